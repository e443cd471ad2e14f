"""Runs PTX on the CPU: a parser of the text that tkc writes, memory that watches its users, and a
machine that runs the warps of a block in a shuffled order.

Each lane has its own place in the code. Of a warp the lanes furthest behind go first, except that
`shfl` and `bar` wait until all of them are there. Between warps the seed of the machine decides who
goes next; independently of that order, two warps that touch a byte between the same two barriers
are reported as a race, unless both only read. What the instructions compute is in operations.py.
"""

import re

import numpy as np

import operations

LANES = 32
ALL_ONES = 2**64 - 1
SHARED_BASE = 1 << 24
GLOBAL_BASE = 1 << 40
GUARD_BYTES = 1024
STEPS_OF_BLOCK = 400_000
SWITCHING = (0.02, 0.0, 0.3)  # how probable it is that another warp goes on, by seed
POISON = 0xCD  # fills shared memory, which may be read before it is written, but not matter
SEVERAL = 255  # stands for more warps than one
DECLARATIONS = (".reg", ".pragma", ".loc", ".file")


class Instruction:
    """One statement: `@!%p1 ld.global.v4.b32 {%r1, ...}, [%rd1+16]`, taken apart."""

    def __init__(self, text):
        self.text = text
        self.guard, self.negated = None, False
        guarded = re.match(r"@(!?)(%\w+) (.*)$", text)
        if guarded:
            self.negated, self.guard, text = bool(guarded[1]), guarded[2], guarded[3]
        name, _, operands = text.partition(" ")
        self.parts = name.split(".")
        self.opcode, self.type = self.parts[0], self.parts[-1]
        self.arguments = split_operands(operands)
        self.waits = self.opcode in ("bar", "barrier", "shfl")


def split_operands(text):
    """Cuts at the commas outside of braces and brackets; of `%p|%q` the second is dropped."""
    pieces, depth, start = [], 0, 0
    for place, letter in enumerate(text + ","):
        depth += (letter in "{[") - (letter in "}]")
        if letter == "," and depth == 0:
            pieces.append(text[start:place].strip().split("|")[0].strip())
            start = place + 1
    return [piece for piece in pieces if piece]


class Program:
    """The instructions of one entry, the places of its labels and the names of its parameters."""

    def __init__(self, text, symbol):
        entry = re.search(r"\.visible \.entry " + re.escape(symbol)
                          + r"\((.*?)\)\s*[^{]*?\n\{(.*?)\n\}\n", text, re.S)
        if not entry:
            raise LookupError(f"no entry {symbol} in the PTX")
        self.parameters = re.findall(r"\.param [^,\n]*?(\w+)(?:,|\s*$)", entry[1], re.M)
        self.instructions, self.labels = [], {}
        body = re.sub(r"//[^\n]*", "", entry[2])
        body = re.sub(r"^(\$L\w+):", r"\1:;", body, flags=re.M)
        body = re.sub(r"^\s*[{}]\s*$", "", body, flags=re.M)
        for statement in body.split(";"):
            statement = " ".join(statement.split())
            if statement.endswith(":"):
                self.labels[statement[:-1]] = len(self.instructions)
            elif statement and not statement.startswith(DECLARATIONS):
                self.instructions.append(Instruction(statement))


class Fault(Exception):
    """The machine cannot go on."""


class Memory:
    """A range of addresses, of which only what was added may be touched.

    For each byte it is known which warp wrote and which read it last, and between which barriers.
    """

    def __init__(self, name, base, size):
        self.name, self.base = name, base
        self.data = np.zeros(size, np.uint8)
        self.valid = np.zeros(size, bool)
        self.stored = np.zeros(size, bool)
        self.write_time, self.read_time = np.zeros(size, np.int64), np.zeros(size, np.int64)
        self.writer, self.reader = np.zeros(size, np.uint8), np.zeros(size, np.uint8)
        self.used = GUARD_BYTES
        self.problems = {}

    def report(self, problem, text):
        self.problems.setdefault(f"{problem}: {text}", None)

    def add(self, rows, offset=0):
        """Places the rows of a matrix of bytes, those beyond `rows.mask` untouchable; returns
        the address, which is `offset` past a multiple of 256."""
        data, valid = rows
        start = -(-self.used // 256) * 256 + offset
        self.used = start + data.size + GUARD_BYTES
        if self.used > self.data.size:
            raise Fault("the machine has too little memory")
        self.data[start : start + data.size] = data
        self.valid[start : start + data.size] = valid
        return self.base + start

    def bytes_at(self, address, size):
        return self.data[address - self.base :][:size]

    def places(self, addresses, size, instruction):
        """The indices of the bytes of each access, and which accesses are allowed."""
        misaligned = addresses % np.uint64(size) != 0
        if misaligned.any():
            self.report("misaligned", f"{instruction.text} at {int(addresses[misaligned][0]):#x}")
        offsets = addresses - np.uint64(self.base)
        inside = offsets < np.uint64(self.data.size - size)
        indices = np.where(inside, offsets, np.uint64(0)).astype(np.int64)[:, None]
        indices = indices + np.arange(size)
        allowed = inside & self.valid[indices].all(axis=1)
        if not allowed.all():
            first = int(addresses[~allowed][0]) - self.base
            self.report("out of bounds", f"{self.name} memory, {instruction.text}, offset {first}")
        return indices[allowed], allowed

    def load(self, addresses, size, instruction, warp, time):
        """Bytes [accesses, size]; zeros where the access is not allowed."""
        indices, allowed = self.places(addresses, size, instruction)
        if ((self.write_time[indices] == time) & (self.writer[indices] != warp)).any():
            self.report("race", f"{self.name} memory, {instruction.text} reads what another warp"
                        " writes")
        if "nc" in instruction.parts and self.stored[indices].any():
            self.report("stale", f"{instruction.text} reads what the kernel wrote")
        shared = (self.read_time[indices] == time) & (self.reader[indices] != warp)
        self.reader[indices] = np.where(shared, SEVERAL, warp)
        self.read_time[indices] = time
        result = np.zeros((len(addresses), size), np.uint8)
        result[allowed] = self.data[indices]
        return result

    def store(self, addresses, values, instruction, warp, time):
        """Writes bytes [accesses, size]; several warps may write the same byte of one value."""
        indices, allowed = self.places(addresses, values.shape[1], instruction)
        values = values[allowed]
        others = (self.write_time[indices] == time) & (self.writer[indices] != warp)
        if (others & (self.data[indices] != values)).any():
            self.report("race", f"{self.name} memory, {instruction.text} writes what another warp"
                        " writes")
        if ((self.read_time[indices] == time) & (self.reader[indices] != warp)).any():
            self.report("race", f"{self.name} memory, {instruction.text} writes what another warp"
                        " reads")
        self.data[indices] = values
        self.stored[indices] = True
        self.writer[indices], self.write_time[indices] = warp, time


class Warp:
    """32 lanes: registers, and the place of each lane in the code."""

    def __init__(self, machine, index, block, grid, threads):
        self.machine, self.index = machine, index
        self.registers = {}
        self.place = np.zeros(LANES, np.int64)
        self.waiting, self.barriers = False, 0
        lanes = np.arange(LANES, dtype=np.uint64)
        special = {"%tid.x": lanes + np.uint64(LANES * index), "%laneid": lanes,
                   "%ntid.x": threads, "%tid.y": 0, "%tid.z": 0}
        for axis, of_block, of_grid in zip("xyz", block, grid):
            special[f"%ctaid.{axis}"], special[f"%nctaid.{axis}"] = of_block, of_grid
        for name, value in special.items():
            self.registers[name] = np.full(LANES, value, np.uint64)

    def read(self, operand):
        """The bits of an operand: a register, a number or the name of shared memory."""
        found = self.registers.get(operand)
        if found is not None:
            return found
        if operand.startswith("%"):  # never written: anything; what uses it should not matter
            return np.full(LANES, 0xDEADBEEFDEADBEEF, np.uint64)
        constant = self.machine.constants.get(operand)
        if constant is None:
            constant = np.full(LANES, constant_bits(operand), np.uint64)
            self.machine.constants[operand] = constant
        return constant

    def write(self, operand, value, active):
        if operand != "_":
            self.registers[operand] = np.where(active, value, self.read(operand)) \
                if not active.all() else np.asarray(value).astype(np.uint64)

    def step(self):
        """One instruction of the lanes that are furthest behind and need not wait."""
        instructions = self.machine.program.instructions
        live = self.place < len(instructions)
        current = int(self.place.min())
        if instructions[current].waits and not (self.place[live] == current).all():
            ahead = [place for place in np.unique(self.place[live])
                     if not instructions[place].waits]
            if not ahead:
                raise Fault(f"lanes wait at different places, one at "
                            f"`{instructions[current].text}`")
            current = int(ahead[0])
        here = self.place == current
        instruction, active = instructions[current], here
        if instruction.guard:
            active = here & ((self.read(instruction.guard) != 0) != instruction.negated)
        self.place[here] = current + 1
        if instruction.opcode == "bra":
            self.place[active] = self.machine.program.labels[instruction.arguments[0]]
        elif instruction.opcode in ("ret", "exit"):
            self.place[active] = len(instructions)
        elif instruction.opcode in ("bar", "barrier"):
            self.waiting = True
            self.barriers += 1
        elif instruction.opcode in ("ld", "st"):
            self.access(instruction, active)
        else:
            operations.execute(self, instruction, active)

    def done(self):
        return bool((self.place >= len(self.machine.program.instructions)).all())

    def access(self, instruction, active):
        """`ld` and `st`, of parameters, global and shared memory, of one register or several."""
        loads = instruction.opcode == "ld"
        registers, address = instruction.arguments if loads else instruction.arguments[::-1]
        base, _, offset = address.strip("[]").partition("+")
        offset = int(offset or 0)
        width = operations.width_of(instruction.type)
        if "param" in instruction.parts:
            value = self.machine.parameters[base] >> (8 * offset)
            bits = np.full(LANES, value & (2**width - 1), np.uint64)
            self.write(registers, operations.extended(bits, instruction.type), active)
            return
        memory = self.machine.memory_of(instruction)
        registers = [name.strip() for name in registers.strip("{}").split(",")]
        size = width // 8
        addresses = (self.read(base) + np.uint64(offset & ALL_ONES))[active]
        if not len(addresses):
            return
        time = self.machine.time(self)
        if not loads:
            values = [self.read(name)[active].view(np.uint8).reshape(-1, 8)[:, :size]
                      for name in registers]
            memory.store(addresses, np.concatenate(values, axis=1), instruction, self.index, time)
            return
        values = memory.load(addresses, size * len(registers), instruction, self.index, time)
        for position, name in enumerate(registers):
            words = np.zeros((len(addresses), 8), np.uint8)
            words[:, :size] = values[:, position * size : (position + 1) * size]
            bits = np.zeros(LANES, np.uint64)
            bits[active] = words.reshape(-1).view(np.uint64)
            self.write(name, operations.extended(bits, instruction.type), active)


def constant_bits(operand):
    """The bits of a number as PTX writes it."""
    if operand == "tkc_shared":
        return SHARED_BASE
    if operand[:2] in ("0f", "0d"):
        return int(operand[2:], 16)
    return int(operand.rstrip("U"), 0) & ALL_ONES


class Machine:
    """Runs the blocks of a grid, one after the other."""

    def __init__(self, program, memory, shared_bytes, seed):
        self.program, self.memory, self.shared_bytes = program, memory, shared_bytes
        self.random = np.random.default_rng(seed)
        self.switching = SWITCHING[seed % len(SWITCHING)]
        self.constants, self.parameters = {}, {}
        self.blocks, self.shared = 0, None

    def memory_of(self, instruction):
        for space, memory in (("global", self.memory), ("shared", self.shared)):
            if space in instruction.parts:
                return memory
        raise Fault(f"unknown memory: {instruction.text}")

    def time(self, warp):
        """A number for the time between two barriers of one block, never zero."""
        return (self.blocks << 32) + warp.barriers

    def launch(self, parameters, grid, threads):
        """`parameters` are the bits of each parameter."""
        if threads % LANES or len(parameters) != len(self.program.parameters):
            raise Fault("the launch does not fit the entry")
        self.parameters = dict(zip(self.program.parameters, parameters))
        for z in range(grid[2]):
            for y in range(grid[1]):
                for x in range(grid[0]):
                    self.run_block((x, y, z), grid, threads)

    def run_block(self, block, grid, threads):
        self.blocks += 1
        self.shared = Memory("shared", SHARED_BASE, self.shared_bytes + GUARD_BYTES)
        self.shared.valid[: self.shared_bytes] = True
        self.shared.data[:] = POISON
        self.shared.problems = self.memory.problems
        warps = [Warp(self, index, block, grid, threads) for index in range(threads // LANES)]
        current = None
        for _ in range(STEPS_OF_BLOCK):
            if current is None or current.waiting or current.done() \
                    or self.random.random() < self.switching:
                current = self.next_warp(warps)
                if current is None:
                    return
            current.step()
        raise Fault("a block takes too many steps")

    def next_warp(self, warps):
        """Any warp that can go on; when all of them wait, the barrier opens."""
        alive = [warp for warp in warps if not warp.done()]
        ready = [warp for warp in alive if not warp.waiting]
        if not ready:
            for warp in alive:
                warp.waiting = False
            ready = alive
        return ready[self.random.integers(len(ready))] if ready else None
