"""tkc_kernels: kernels of .tk files as a cc_library.

    load("@tkc//:defs.bzl", "tkc_kernels")

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

load("@rules_cc//cc:defs.bzl", "cc_library")

def _folders(ctx, folder):
    """A folder of the package, as a path: where sources lie, and what is generated."""
    inside = [part for part in [ctx.label.workspace_root, ctx.label.package, folder] if part and part != "."]
    return ["/".join(inside) or ".", "/".join([ctx.bin_dir.path] + inside)]

def _compile(ctx, stem, chip):
    part = ctx.actions.declare_file("%s.%s.tkb" % (stem, chip))
    arguments = ctx.actions.args()
    arguments.add(ctx.file.src)
    arguments.add("-o", part)
    arguments.add("--hermetic")
    arguments.add("--target=" + chip)
    arguments.add_all(ctx.attr.defines, before_each = "-D")
    for folder in ctx.attr.includes:
        arguments.add_all(_folders(ctx, folder), before_each = "-I")
    if ctx.attr.config:
        arguments.add("--config=" + ctx.attr.config)
    if ctx.file.tuned:
        arguments.add(ctx.file.tuned, format = "--tuned=%s")
    if ctx.file.ptxas:
        arguments.add(ctx.file.ptxas, format = "--ptxas=%s")
    arguments.add_all(ctx.attr.options)
    ctx.actions.run(
        executable = ctx.executable.compiler,
        arguments = [arguments],
        inputs = [ctx.file.src] + ctx.files.imports + ctx.files.tuned + ctx.files.ptxas,
        outputs = [part],
        mnemonic = "TkcCompile",
        progress_message = "tkc %s for %s" % (ctx.file.src.short_path, chip),
    )
    return part

def _bundle_impl(ctx):
    chips = ctx.attr.targets + ([ctx.attr.fallback] if ctx.attr.fallback else [])
    if ctx.attr.with_interp:
        chips = chips + ["cpu"]
    if not chips:
        fail("say which chips: targets = [\"sm_90a\"], or with_interp = True")

    # A folder for each rule: two of them may compile the same file.
    stem = ctx.label.name + "/" + ctx.file.src.basename[:-len(".tk")]
    inputs = [_compile(ctx, stem, chip) for chip in chips]
    outputs = [ctx.actions.declare_file(stem + end) for end in (".tkb", ".o", ".h")]
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
        "imports": attr.label_list(allow_files = [".tk"]),
        "targets": attr.string_list(),
        "fallback": attr.string(),
        "with_interp": attr.bool(),
        "defines": attr.string_list(),
        "includes": attr.string_list(),
        "config": attr.string(),
        "tuned": attr.label(allow_single_file = [".json"]),
        "options": attr.string_list(),
        "ptxas": attr.label(allow_single_file = True, cfg = "exec"),
        "compiler": attr.label(executable = True, allow_single_file = True, cfg = "exec", mandatory = True),
    },
)

def tkc_kernels(name, src, runtime = "@tkc//:runtime", compiler = "@tkc//:tkc", visibility = None, **kwargs):
    """A cc_library with the embedded bundle of `src` and its header.

    Args:
      name: of the library; `NAME_bundle` is the files alone
      src: the .tk file; what it imports goes into `imports`
      runtime: the loader, a cc_library
      compiler: tkc
      visibility: of the library
      **kwargs: targets, fallback, with_interp, imports, defines, includes (folders of the package),
        config, tuned, options, ptxas (else the one that tkc was built with); tags, testonly,
        target_compatible_with
    """
    common = {
        key: kwargs.pop(key)
        for key in ("tags", "testonly", "target_compatible_with")
        if key in kwargs
    }
    bundle = name + "_bundle"
    _tkc_bundle(name = bundle, src = src, compiler = compiler, visibility = visibility, **dict(common, **kwargs))
    for group in ("object", "header"):
        native.filegroup(name = name + "_" + group, srcs = [":" + bundle], output_group = group, **common)
    cc_library(
        name = name,
        srcs = [":%s_object" % name],
        hdrs = [":%s_header" % name],
        includes = [bundle],
        linkstatic = True,  # the bundle's symbols are hidden: each program or shared library has its own
        deps = [runtime],
        visibility = visibility,
        **common
    )
