"""Which device and stream a launch takes when the caller names none: the one on which the framework
of its arguments works now."""

import sys


def _torch_cuda():
    """torch.cuda, when the program has imported torch and uses its GPU side; else None."""
    torch = sys.modules.get("torch")
    return torch.cuda if torch is not None and torch.cuda.is_initialized() else None


def current_device():
    cuda = _torch_cuda()
    return cuda.current_device() if cuda else 0


def _current_stream(device, args):
    cupy = sys.modules.get("cupy")
    if cupy is not None and any(isinstance(arg, cupy.ndarray) for arg in args):
        return cupy.cuda.get_current_stream().ptr
    cuda = _torch_cuda()
    return cuda.current_stream(device).cuda_stream if cuda else 0


def stream_address(stream, device, args):
    """Of an integer, a stream of torch, of CuPy, of anything with `__cuda_stream__`, or of None."""
    if stream is None:
        return _current_stream(device, args)
    if isinstance(stream, int):
        return stream
    for attribute in ("cuda_stream", "ptr"):
        if hasattr(stream, attribute):
            return getattr(stream, attribute)
    if hasattr(stream, "__cuda_stream__"):
        return stream.__cuda_stream__()[1]
    raise TypeError(f"no stream: {type(stream).__name__}")
