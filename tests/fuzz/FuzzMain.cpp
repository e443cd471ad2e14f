//===- FuzzMain.cpp - tk-fuzz: generated programs through front end and engines ------===//
//
//   tk-fuzz --seed=1 --count=1000 [--seconds=60] [--threads=2] [--inexact] [--print]
//           [--front-end-only] [--coverage] [--attempts=2000] [--save=DIR] [--ask]
//
// Oracle.h says what must hold of each program. --inexact takes functions whose results are rounded, --front-end-only runs no pass. --coverage
// counts features and operations, and one that does not occur is a failure. --save writes each program
// with its data, as SaveCase.h says. What fails is made smaller, by at most so many attempts, and
// printed with what goes wrong; the exit status is then 1. With --ask the program of the seed is made
// smaller by another's judgement: the stem of each smaller program that --save wrote is printed, and the
// answer read, `wrong` when it still fails. The last line is `smallest STEM`.
//
//===----------------------------------------------------------------------===//

#include "tests/fuzz/Features.h"
#include "tests/fuzz/Lines.h"
#include "tests/fuzz/Oracle.h"
#include "ir/tk/TkDialect.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/raw_ostream.h"
#include <atomic>
#include <chrono>
#include <iostream>
#include <mutex>
#include <thread>

using namespace tk;
using namespace tk::fuzz;

namespace {
struct CommandLine {
  uint64_t seed = 1, count = 100;
  double seconds = 0; // 0: no limit
  unsigned threads = 1, attempts = 2000; // to make a failure smaller
  bool print = false, coverage = false, ask = false;
  std::string saveIn; // a folder
  Settings settings;
  OracleOptions oracle;
};
} // namespace

static Program generateFrom(std::vector<uint32_t> list, const Settings &settings) {
  Choices choices(std::move(list));
  return generate(choices, settings);
}

/// The part of a message that names its kind, so that a smaller program fails for the same reason.
static std::string kindOf(const std::string &fault) {
  size_t code = fault.find("TK");
  return fault.substr(0, 12) + (code == std::string::npos ? "" : fault.substr(code, 6));
}

static void report(uint64_t seed, const std::vector<uint32_t> &list, const std::string &fault,
                   const CommandLine &command) {
  const Settings &settings = command.settings;
  auto faultFrom = [&](const std::vector<uint32_t> &list) {
    return faultOf(generateFrom(list, settings), command.oracle, nullptr);
  };
  std::vector<uint32_t> small = reduce(list, command.attempts, [&](const std::vector<uint32_t> &candidate) {
    return kindOf(faultFrom(candidate)) == kindOf(fault);
  });
  Program program = generateFrom(small, settings);
  program.text = reduceLines(program.text, command.attempts, [&](const std::string &text) {
    Program candidate = program;
    candidate.text = text;
    return kindOf(faultOf(candidate, command.oracle, nullptr)) == kindOf(fault);
  });
  llvm::outs() << "seed " << seed << ": " << faultOf(program, command.oracle, nullptr) << "\n" << program.text << "\n";
  llvm::outs().flush();
}

/// What --ask does.
static int shrinkByAnswers(const CommandLine &command) {
  OracleOptions oracle = command.oracle;
  oracle.machineCode = false;
  oracle.orders = 1;
  oracle.saveAs = command.saveIn + "/smaller";
  auto isWrong = [&](const Program &program) {
    if (!faultOf(program, oracle, nullptr).empty())
      return false;
    llvm::outs() << oracle.saveAs << "\n";
    llvm::outs().flush();
    std::string answer;
    return bool(std::getline(std::cin, answer)) && answer == "wrong";
  };
  Choices choices(command.seed);
  generate(choices, command.settings);
  std::vector<uint32_t> small = reduce(choices.drawn(), command.attempts, [&](const std::vector<uint32_t> &list) {
    return isWrong(generateFrom(list, command.settings));
  });
  Program program = generateFrom(small, command.settings);
  program.text = reduceLines(program.text, command.attempts, [&](const std::string &text) {
    Program candidate = program;
    candidate.text = text;
    return isWrong(candidate);
  });
  bool isSaved = faultOf(program, oracle, nullptr).empty();
  llvm::outs() << "smallest " << oracle.saveAs << "\n";
  return !isSaved;
}

static bool parseWord(llvm::StringRef word, CommandLine &command) {
  auto number = [&](llvm::StringRef name, auto &value) {
    return word.consume_front(name) && !word.getAsInteger(10, value);
  };
  unsigned seconds = 0;
  if (number("--seconds=", seconds)) {
    command.seconds = seconds;
    return true;
  }
  if (word == "--print")
    return command.print = true;
  if (word.consume_front("--save=")) {
    command.saveIn = word.str();
    return true;
  }
  if (word == "--ask")
    return command.ask = true;
  if (word == "--coverage")
    return command.coverage = true;
  if (word == "--front-end-only") {
    command.oracle.machineCode = false;
    return true;
  }
  if (word == "--inexact") {
    command.settings.exact = false;
    return true;
  }
  return number("--seed=", command.seed) || number("--count=", command.count) ||
         number("--threads=", command.threads) || number("--attempts=", command.attempts);
}

/// In how many programs each feature and operation occurs; true when one is missing.
static bool printCoverage(const Coverage &coverage) {
  bool isMissing = false;
  auto row = [&](llvm::StringRef kind, llvm::StringRef name, uint64_t count) {
    llvm::outs() << kind << " " << name << ": " << count << "\n";
  };
  for (size_t i = 0; i < kNumFeatures; ++i) {
    row("feature", kFeatures[i].name, coverage.features[i]);
    isMissing |= coverage.features[i] == 0;
  }
  mlir::MLIRContext context;
  context.loadDialect<TkDialect>();
  for (mlir::RegisteredOperationName op : context.getRegisteredOperations()) {
    llvm::StringRef name = op.getStringRef();
    if (op.getDialectNamespace() != TkDialect::getDialectNamespace())
      continue;
    const auto *leftOut = llvm::find_if(kLeftOut, [&](const LeftOut &each) { return each.operation == name; });
    if (leftOut != std::end(kLeftOut)) {
      llvm::outs() << "left out " << name << ": " << leftOut->reason << "\n";
      continue;
    }
    uint64_t count = coverage.operations.lookup(name);
    row("operation", name, count);
    isMissing |= count == 0;
  }
  llvm::outs() << "machine code: " << coverage.withMachineCode << " of " << coverage.programs << "\n";
  return isMissing;
}

int main(int argc, char **argv) {
  CommandLine command;
  for (int i = 1; i < argc; ++i)
    if (!parseWord(argv[i], command)) {
      llvm::errs() << "tk-fuzz: unknown word `" << argv[i] << "`\n";
      return 2;
    }
  if (command.ask)
    return shrinkByAnswers(command);
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  std::atomic<uint64_t> next{0}, ran{0}, wrong{0}, lines{0};
  std::mutex lock;
  Coverage coverage;
  auto work = [&] {
    for (uint64_t i = next++; i < command.count; i = next++) {
      if (command.seconds > 0 && std::chrono::duration<double>(Clock::now() - start).count() > command.seconds)
        return;
      Choices choices(command.seed + i);
      Program program = generate(choices, command.settings);
      if (command.print)
        llvm::outs() << "# seed " << command.seed + i << "\n" << program.text << "\n";
      Coverage own;
      OracleOptions oracle = command.oracle;
      if (!command.saveIn.empty())
        oracle.saveAs = command.saveIn + "/" + std::to_string(command.seed + i);
      std::string fault = faultOf(program, oracle, &own);
      ++ran;
      lines += uint64_t(llvm::StringRef(program.text).count('\n'));
      std::lock_guard<std::mutex> guard(lock);
      coverage.add(own);
      if (fault.empty())
        continue;
      if (++wrong <= 10)
        report(command.seed + i, choices.drawn(), fault, command);
    }
  };
  std::vector<std::thread> workers;
  for (unsigned i = 1; i < command.threads; ++i)
    workers.emplace_back(work);
  work();
  for (std::thread &worker : workers)
    worker.join();
  llvm::outs() << ran.load() << " programs of " << lines.load() / std::max<uint64_t>(ran, 1)
               << " lines on average, " << wrong.load() << " wrong\n";
  bool isMissing = command.coverage && printCoverage(coverage);
  return wrong != 0 || isMissing;
}
