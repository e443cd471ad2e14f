"""Lets one system call of a process fail, whatever it is written in: by ptrace, on x86-64.

A process that is traced says with SIGSTOP where counting begins and where it ends.
"""

import ctypes
import os
import signal
import traceback

TRACEME, CONT, GETREGS, SETREGS, SYSCALL, SETOPTIONS = 0, 7, 12, 13, 24, 0x4200
SYSGOOD_AND_EXITKILL = 1 | 1 << 20
RAX, ORIG_RAX = 10, 15  # in struct user_regs_struct
CALLS = {0: "read", 1: "write", 2: "open", 3: "close", 4: "stat", 5: "fstat", 6: "lstat",
         8: "lseek", 16: "ioctl", 17: "pread64", 18: "pwrite64", 20: "writev", 21: "access", 72: "fcntl",
         73: "flock", 74: "fsync", 75: "fdatasync", 76: "truncate", 77: "ftruncate",
         78: "getdents", 82: "rename", 83: "mkdir", 84: "rmdir", 86: "link", 87: "unlink",
         90: "chmod", 91: "fchmod", 217: "getdents64", 257: "openat", 258: "mkdirat",
         262: "newfstatat", 263: "unlinkat", 264: "renameat", 265: "linkat", 268: "fchmodat",
         269: "faccessat", 316: "renameat2", 332: "statx", 439: "faccessat2"}

_libc = ctypes.CDLL(None, use_errno=True)
_libc.ptrace.restype = ctypes.c_long
_libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]


def _ptrace(request, pid, data=0):
    if _libc.ptrace(request, pid, None, data) < 0:
        raise OSError(ctypes.get_errno(), "ptrace")


def is_possible():
    if os.uname().machine != "x86_64":
        return False
    try:
        run(lambda: (mark(), mark()))
        return True
    except OSError:  # a container may forbid it
        return False


def mark():
    """In the traced process: counting begins or ends here."""
    os.kill(os.getpid(), signal.SIGSTOP)


def run(body, failing=None, error=0):
    """Calls `body` in a process of its own; it may exec. The call of number `failing` is not made
    and gives `error`. Returns (the names of the calls between marks, exit status)."""
    pid = os.fork()
    if pid == 0:
        try:
            if _libc.ptrace(TRACEME, 0, None, None) < 0:
                os._exit(99)
            body()
        except BaseException:  # pylint: disable=broad-exception-caught
            os.write(2, traceback.format_exc().encode())
            os._exit(98)
        os._exit(0)
    return _Tracer(pid, failing, error).follow()


class _Tracer:
    def __init__(self, pid, failing, error):
        self.pid, self.failing, self.error = pid, failing, error
        self.names = []
        self.is_counting = self.is_inside = self.is_failing = False

    def follow(self):
        is_first = True
        while True:
            _, status = os.waitpid(self.pid, 0)
            if not os.WIFSTOPPED(status):
                if os.WIFEXITED(status) and os.WEXITSTATUS(status) == 99:
                    raise PermissionError("ptrace is forbidden here")
                return self.names, status
            if is_first:
                _ptrace(SETOPTIONS, self.pid, SYSGOOD_AND_EXITKILL)
                is_first = False
            passed_on = self.stopped(os.WSTOPSIG(status))
            _ptrace(SYSCALL if self.is_counting else CONT, self.pid, passed_on)

    def stopped(self, number):
        """The signal that the process is to get."""
        if number == signal.SIGTRAP | 0x80:
            self.is_inside = not self.is_inside
            self.syscall()
            return 0
        if number == signal.SIGSTOP:
            self.is_counting, self.is_inside = not self.is_counting, False
            return 0
        return 0 if number == signal.SIGTRAP else number

    def syscall(self):
        registers = (ctypes.c_ulonglong * 27)()
        if not self.is_inside and not self.is_failing:
            return
        _ptrace(GETREGS, self.pid, ctypes.addressof(registers))
        if self.is_failing:
            registers[RAX] = 2**64 - self.error
            self.is_failing = False
        else:
            name = CALLS.get(registers[ORIG_RAX])
            if name is None:
                return
            self.names.append(name)
            if len(self.names) - 1 != self.failing:
                return
            registers[ORIG_RAX] = 2**64 - 1
            self.is_failing = True
        _ptrace(SETREGS, self.pid, ctypes.addressof(registers))
