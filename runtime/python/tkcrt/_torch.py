"""Kernels as operators of torch: they go through the dispatcher, and torch.compile knows what they
write."""

import threading


def _schema_type(arg):
    """The parameter of a schema that takes a kernel's argument; None for workspace."""
    if arg.get("access") == "scratch":
        return None
    if arg["kind"] in ("tensor", "pointer"):
        mark = "" if arg["access"] == "in" else "({}!)"
        return "Tensor" + mark + ("?" if arg.get("optional") else "")
    kind = "bool" if arg["dtype"] == "i1" else "int" if arg["dtype"][0] in "iu" else "float"
    return kind + ("?" if "default" in arg else "")


def schema_of(args):
    """"(Tensor x, Tensor(a!) z, float? s) -> ()" of the arguments in a kernel's description."""
    parameters = []
    for arg in args:
        kind = _schema_type(arg)
        if kind is None:
            continue
        name = arg["name"]
        parameters.append(kind.format(chr(ord("a") + len(parameters) % 26)) + " " + name)
    return "(" + ", ".join(parameters) + ") -> ()"


class _PerDevice:
    """One kernel on each device that it is called on, loaded by the first call there."""

    def __init__(self, load):
        self._load, self._kernels, self._lock = load, {}, threading.Lock()

    def __call__(self, device):
        kernel = self._kernels.get(device)
        if kernel is None:
            with self._lock:
                kernel = self._kernels.get(device)
                if kernel is None:
                    kernel = self._kernels[device] = self._load(device)
        return kernel


def torch_op(qualname, module, kernel, **consts):
    """Registers a kernel as torch's operator `qualname` ("mylib::scale") and gives it back. It takes
    the kernel's arguments but for workspace, which comes from torch's allocator, writes to those that
    are not `in`, and returns nothing. A scalar that has a default may be None."""
    import torch  # pylint: disable=import-outside-toplevel
    info = _find(module, kernel, consts)
    wanted = [arg.get("access") != "scratch" for arg in info["args"]]
    has_scratch = not all(wanted)
    on_host = module.backend == "cpu"
    per_device = _PerDevice(lambda device: module.kernel(kernel, device=device, **consts))

    def run(*given):
        values = iter(given)
        args = [next(values) if is_given else None for is_given in wanted]
        tensor = next(arg for arg in args if isinstance(arg, torch.Tensor))
        loaded = per_device(0 if on_host else tensor.device.index)
        workspace = None
        if has_scratch:
            workspace = _make_workspace(torch, loaded.workspace(*args), tensor.device)
        loaded(*args, workspace=workspace)

    torch.library.define(qualname, schema_of(info["args"]))
    torch.library.impl(qualname, "cpu" if on_host else "cuda", run)
    torch.library.register_fake(qualname, lambda *given: None)
    space, name = qualname.split("::")
    return getattr(getattr(torch.ops, space), name)


def _make_workspace(torch, need, device):
    """From torch's allocator, which aligns less than kernels need in host memory."""
    make = torch.zeros if need.must_be_zero else torch.empty
    memory = make(need.bytes + need.align, dtype=torch.uint8, device=device)
    begin = -memory.data_ptr() % need.align
    return memory[begin:begin + need.bytes]


def _find(module, name, consts):
    """The description of the one kernel that a name and constants mean."""
    def text(value):
        return str(value).lower() if isinstance(value, bool) else str(value)

    found = [k for k in module.metadata["kernels"] if k["kernel"] == name and all(
        text(k.get("instance", {}).get(key)) == text(value) for key, value in consts.items())]
    if len(found) != 1:
        raise ValueError(f"{len(found)} kernels are called {name!r} with {consts}, needed one")
    return found[0]
