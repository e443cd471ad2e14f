"""Processes that work for the threads of another: a kernel that stands still, or that takes the GPU's
context with it, ends one of them and not the run."""

import multiprocessing
import threading

import numpy as np

ANSWER_LIMIT_S = 60
LOST = "CUDA_ERROR_"  # after most of these a process can do nothing more on the GPU


def serve(connection, function):
    """The loop of such a process."""
    np.seterr(all="ignore")
    while True:
        try:
            work = connection.recv()
        except EOFError:
            return
        connection.send(function(*work))


class Server:
    """Calls `function`, which gives (problems, reason), in a process; one that is lost is replaced."""

    def __init__(self, function):
        self.function, self.process, self.connection = function, None, None

    def start(self):
        context = multiprocessing.get_context("spawn")
        self.connection, there = context.Pipe()
        self.process = context.Process(target=serve, args=(there, self.function), daemon=True)
        self.process.start()
        there.close()

    def stop(self):
        if self.process:
            self.process.kill()
            self.process.join()
            self.connection.close()
        self.process = None

    def ask(self, *work):
        if not self.process:
            self.start()
        self.connection.send(work)
        if not self.connection.poll(ANSWER_LIMIT_S):
            self.stop()
            return [f"Hang(no answer in {ANSWER_LIMIT_S} s)"], ""
        try:
            problems, reason = self.connection.recv()
        except EOFError:
            self.stop()
            return ["Crash(the process ends)"], ""
        if any(LOST in problem for problem in problems):
            self.stop()
        return problems, reason


class Servers:
    """A server for each thread that asks."""

    def __init__(self, function):
        self.function, self.own, self.all = function, threading.local(), []

    def ask(self, *work):
        if not hasattr(self.own, "server"):
            self.own.server = Server(self.function)
            self.all.append(self.own.server)
        return self.own.server.ask(*work)

    def stop(self):
        for server in self.all:
            server.stop()
