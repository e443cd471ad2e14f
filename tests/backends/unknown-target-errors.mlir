// RUN: tk-opt %s --tk-lower-to-machine=target=sm_1 --verify-diagnostics

// The command line refuses unknown targets; the pass says so too when it is run by itself.
// expected-error @+1 {{TK9001: internal error: the machine passes do not know target `sm_1`}}
module {
}
