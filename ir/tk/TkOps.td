//===- TkOps.td - all operations of `tk`, by topic --------------------------===//
include "ir/tk/TkOpsControl.td"
include "ir/tk/TkOpsMemory.td"
include "ir/tk/TkOpsCompute.td"
