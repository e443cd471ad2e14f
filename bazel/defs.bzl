"""tkc_kernels: kernels of .tk files as a cc_library.

    load("@tkc//bazel:defs.bzl", "tkc_kernels")

    tkc_kernels(
        name = "kernels",
        src = "kernels.tk",
        targets = ["sm_80", "sm_90a"],
        with_interp = True,
    )

    cc_binary(name = "app", srcs = ["main.cpp"], deps = [":kernels"])

Each chip is an action of its own; one links them into kernels.tkb, and from it come kernels.o and
kernels.h. Actions read nothing but their inputs, so they may run remotely and be cached.
"""

def _compile(ctx, chip):
    part = ctx.actions.declare_file("%s.%s.tkb" % (ctx.attr.stem, chip))
    arguments = ctx.actions.args()
    arguments.add(ctx.file.src)
    arguments.add("-o", part)
    arguments.add("--hermetic")
    arguments.add("--target=" + chip)
    arguments.add_all(ctx.attr.defines, before_each = "-D")
    arguments.add_all(ctx.attr.includes, before_each = "-I")
    if ctx.attr.config:
        arguments.add("--config=" + ctx.attr.config)
    inputs = [ctx.file.src] + ctx.files.imports
    if ctx.file.tuned:
        arguments.add(ctx.file.tuned, format = "--tuned=%s")
        inputs.append(ctx.file.tuned)
    ctx.actions.run(
        executable = ctx.executable.compiler,
        arguments = [arguments],
        inputs = inputs,
        outputs = [part],
        mnemonic = "TkcCompile",
        progress_message = "tkc %s for %s" % (ctx.file.src.short_path, chip),
    )
    return part

def _bundle_impl(ctx):
    chips = ctx.attr.targets + ([ctx.attr.fallback] if ctx.attr.fallback else [])
    if ctx.attr.with_interp:
        chips.append("cpu")
    parts = [_compile(ctx, chip) for chip in chips]
    if not parts:
        fail("say which chips: targets = [\"sm_90a\"], or with_interp = True")
    outputs = [ctx.actions.declare_file(ctx.attr.stem + end) for end in (".tkb", ".o", ".h")]
    inputs = parts
    for output in outputs:
        arguments = ctx.actions.args()
        arguments.add("link")
        arguments.add_all(inputs)
        arguments.add("-o", output)
        ctx.actions.run(
            executable = ctx.executable.compiler,
            arguments = [arguments],
            inputs = inputs,
            outputs = [output],
            mnemonic = "TkcLink",
            progress_message = "tkc link %s" % output.short_path,
        )
        inputs = [outputs[0]]
    return [
        DefaultInfo(files = depset(outputs)),
        OutputGroupInfo(bundle = depset(outputs[:1]), object = depset(outputs[1:2]), header = depset(outputs[2:])),
    ]

_tkc_bundle = rule(
    implementation = _bundle_impl,
    attrs = {
        "src": attr.label(allow_single_file = [".tk"], mandatory = True),
        "stem": attr.string(mandatory = True),
        "imports": attr.label_list(allow_files = [".tk"]),
        "targets": attr.string_list(),
        "fallback": attr.string(),
        "with_interp": attr.bool(),
        "defines": attr.string_list(),
        "includes": attr.string_list(),
        "config": attr.string(),
        "tuned": attr.label(allow_single_file = [".json"]),
        "compiler": attr.label(executable = True, cfg = "exec", mandatory = True),
    },
)

def tkc_kernels(name, src, runtime = "@tkc//:runtime", compiler = "@tkc//:tkc", visibility = None, **kwargs):
    """A cc_library with the embedded bundle of `src` and its header.

    Args:
      name: of the library
      src: the .tk file; what it imports goes into `imports`
      runtime: the loader, a cc_library
      compiler: tkc
      visibility: of the library
      **kwargs: targets, fallback, with_interp, imports, defines, includes, config, tuned
    """
    _tkc_bundle(name = name + "_bundle", src = src, stem = src.replace(":", "/").rpartition("/")[2][:-len(".tk")], compiler = compiler, **kwargs)
    for group in ("object", "header"):
        native.filegroup(name = name + "_" + group, srcs = [":%s_bundle" % name], output_group = group)
    native.cc_library(
        name = name,
        srcs = [":%s_object" % name],
        hdrs = [":%s_header" % name],
        includes = ["."],
        deps = [runtime],
        visibility = visibility,
    )
