//===- LowerKernel.cpp - one instance of one kernel --------------------------===//

#include "frontend/Lowerer.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace tk;

//===----------------------------------------------------------------------===//
// Compile-time parameters
//===----------------------------------------------------------------------===//

static std::string kindText(const ast::CParam &param) {
  std::string text;
  for (const ast::Ident &kind : param.kinds)
    text += (text.empty() ? "" : " | ") + kind.text.str();
  return text;
}

/// Whether a value has one of a parameter's kinds.
static bool hasKind(const ast::CParam &param, const Val &value) {
  return llvm::any_of(param.kinds, [&](const ast::Ident &kind) {
    if (kind.text == "int")
      return value.isInt();
    if (kind.text == "bool")
      return value.isBool();
    if (kind.text == "dtype")
      return value.kind == Val::Kind::Dtype;
    if (kind.text == "string")
      return value.kind == Val::Kind::String;
    return value.kind == Val::Kind::Dtype && dtypeName(value.dtype) == kind.text;
  });
}

bool Lowerer::checkKind(const ast::CParam &param, const Val &value, SourceRange at,
                        bool fromCommand) {
  for (const ast::Ident &kind : param.kinds)
    if (!isKindName(kind.text) &&
        !dtypeByName(kind.text)) {
      error<diag::UnknownType>(kind.range, kind.text)
          .help("the kinds are int, bool, dtype, string, and dtypes: `f16 | bf16`");
      return false;
    }
  if (value.isPoison())
    return false;
  if (hasKind(param, value))
    return true;
  std::string kinds = kindText(param);
  if (fromCommand) {
    Report report = reporter.reportCommand<diag::BadValue>(param.name.text, kinds, value.str());
    if (value.kind == Val::Kind::String && StringRef(value.text).contains(','))
      report.help("several values make several instances, which go into a bundle: -o k.tkb");
  } else
    error<diag::BadValue>(at, param.name.text, kinds, value.str());
  return false;
}

/// The text of a -D as a value; a word that is nothing else is a string.
static Val parseDefine(StringRef text) {
  if (text == "true" || text == "false")
    return Val::ofBool(text == "true");
  if (std::optional<Dtype> dtype = dtypeByName(text))
    return Val::ofDtype(*dtype);
  StringRef digits = text;
  bool negative = digits.consume_front("-");
  APInt number;
  std::optional<Int128> value;
  if (!digits.empty() && !digits.getAsInteger(0, number))
    value = toInt128(number);
  if (value)
    return Val::ofInt(negative ? -*value : *value);
  return Val::ofString(text);
}

std::optional<Val> Lowerer::compileTimeValue(const ast::CParam &param, const ast::Kernel &item) {
  for (const auto &define : llvm::reverse(options.defines)) {
    if (define.first != param.name.text)
      continue;
    Val value = parseDefine(define.second);
    // `-D NAME=f16` of a string parameter is the text.
    if (llvm::any_of(param.kinds, [](const ast::Ident &kind) { return kind.text == "string"; }))
      value = Val::ofString(define.second);
    return checkKind(param, value, param.name.range, /*fromCommand=*/true) ? value : Val::poison();
  }
  const ast::Expr *expr = param.defaultValue;
  for (const auto &entry : config)
    if (entry.first == param.name.text)
      expr = entry.second;
  if (!expr)
    return std::nullopt;
  Val value = evalCompileTime(expr);
  if (!value.isPoison() && !value.isCompileTime()) {
    error<diag::NotCompileTime>(expr->range, "a compile-time parameter", value.describe());
    return Val::poison();
  }
  return checkKind(param, value, expr->range, false) ? value : Val::poison();
}

bool Lowerer::bindCompileTime(const ast::Kernel &item, bool asked) {
  bool good = true;
  for (const ast::CParam &param : item.cparams) {
    if (Binding *other = frame->scopes.findInBlock(param.name.text)) {
      error<diag::DuplicateName>(param.name.range, param.name.text)
          .note(other->declared, "the first declaration is here");
      good = false;
      continue;
    }
    std::optional<Val> value = compileTimeValue(param, item);
    if (!value && asked) {
      error<diag::MissingValue>(param.name.range, item.name.text, param.name.text)
          .help("give it by `-D " + param.name.text + "=...`, or a default in the file");
      reporter.errorClass = LowerError::CommandLine;
    } else if (!value)
      error<diag::SkippedKernel>(item.name.range, item.name.text, param.name.text)
          .help("ask for it by `-k " + item.name.text + " -D " + param.name.text + "=...`");
    good &= value && !value->isPoison();
    Val bound = value.value_or(Val::poison());
    bound.origin = param.name.range;
    kernel.compileTime[param.name.text] = bound;
    frame->scopes.bind(param.name.text, {bound, false, param.name.range, std::nullopt});
    if (!value)
      return false;
  }
  return good;
}

/// A compile-time value in letters and digits: dtypes, `64`, `m1` for -1; of a text what is neither as
/// `$2d`, so that no two values look alike.
std::string Lowerer::wordOf(const Val &value) {
  if (value.kind == Val::Kind::Dtype)
    return dtypeName(value.dtype).str();
  if (value.isBool())
    return value.boolean ? "1" : "0";
  if (value.isInt())
    return (value.integer < 0 ? "m" : "") +
           toString(value.integer < 0 ? -value.integer : value.integer);
  std::string word;
  for (char c : value.text)
    word += llvm::isAlnum(c) ? std::string(1, c) : "$" + llvm::utohexstr(uint8_t(c), true, 2);
  return word;
}

std::string Lowerer::symbolName() {
  std::string name = kernel.decl->name.text.str();
  bool first = true;
  for (const auto &[key, value] : kernel.compileTime) {
    name += first ? "__" : "_";
    first = false;
    if (value.kind != Val::Kind::Dtype)
      name += key.str();
    name += wordOf(value);
  }
  // The loader takes 128 characters; digests and suffixes come later.
  constexpr size_t kMaxSymbol = 96;
  name.resize(std::min(name.size(), kMaxSymbol));
  std::string unique = name;
  for (unsigned i = 2; !symbols.insert(unique).second; ++i)
    unique = name + "_" + std::to_string(i);
  return unique;
}

//===----------------------------------------------------------------------===//
// Warnings
//===----------------------------------------------------------------------===//

static NameUse namesOfHead(const ast::Kernel &kernel, bool withTypes) {
  NameUse use;
  for (const ast::Attribute &attr : kernel.attributes) {
    for (const ast::Expr *arg : attr.args)
      collectNames(arg, use);
    for (const ast::NamedArg &arg : attr.namedArgs)
      collectNames(arg.value, use);
  }
  for (const ast::KernelParam &param : kernel.params)
    if (withTypes)
      collectNames(param.type, use);
  for (const ast::CParam &param : kernel.cparams)
    if (param.defaultValue)
      collectNames(param.defaultValue, use);
  return use;
}

void Lowerer::warnAboutParams() {
  NameUse body, attributes = namesOfHead(*kernel.decl, false),
                head = namesOfHead(*kernel.decl, true);
  collectNames(kernel.decl->body, body);
  auto mentioned = [&](StringRef name, const NameUse &head) {
    return body.mentioned.contains(name) || head.mentioned.contains(name);
  };
  for (const ast::CParam &param : kernel.decl->cparams)
    if (!mentioned(param.name.text, head))
      error<diag::UnusedParameter>(param.name.range, param.name.text);
  for (const ast::KernelParam &param : kernel.decl->params) {
    StringRef name = param.name.text;
    bool writes = param.access == ast::Access::Out || param.access == ast::Access::InOut;
    if (writes && !kernel.written.contains(name) && !kernel.untaken.contains(name))
      error<diag::NeverWritten>(param.name.range, kernel.decl->name.text,
                                ast::spelling(param.access), name);
    else if (!mentioned(name, isa<ast::NamedType>(param.type) ? head : attributes))
      error<diag::UnusedParameter>(param.name.range, name);
  }
  for (const auto &[name, host] : kernel.hostNames)
    if (host.uses == 1 && !host.isStride && !mentioned(name, attributes))
      error<diag::UnusedExtent>(host.declared, name).help("write `_` for an extent of any size");
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

void Lowerer::startKernel(const ast::Kernel &item, Frame &kernelFrame) {
  kernel = KernelState();
  kernel.decl = &item;
  kernelFrame.seesExtents = true;
  kernelFrame.module = &program.getMain();
  frame = &kernelFrame;
  steps = walkDepth = regionDepth = callDepth = 0;
  outOfFuel = false;
  builder.clearInsertionPoint();
}

void Lowerer::lowerKernel(const ast::Kernel &item, bool asked) {
  Frame kernelFrame;
  startKernel(item, kernelFrame);
  unsigned errorsBefore = reporter.numErrors;
  ContractAttr contract;
  inScratch([&] {
    if (loadConfiguration(item) && bindCompileTime(item, asked) && declareParams())
      contract = buildContract();
  });
  if (!contract || reporter.numErrors != errorsBefore)
    return;

  builder.setInsertionPointToEnd(module->getBody());
  OperationState state(loc(item.name.range), KernelOp::getOperationName());
  Region *body = state.addRegion();
  Block *entry = &body->emplaceBlock();
  bindParams(*entry);
  state.addAttribute("sym_name", builder.getStringAttr(symbolName()));
  state.addAttribute("function_type",
                     TypeAttr::get(builder.getFunctionType(entry->getArgumentTypes(), {})));
  state.addAttribute("contract", contract);
  kernel.op = cast<KernelOp>(builder.create(state));
  builder.setInsertionPointToStart(&kernel.op.getBody().front());
  kernelFrame.scopes.push();
  execStmts(item.body->stmts);
  builder.setInsertionPointToEnd(&kernel.op.getBody().front());
  ReturnOp::create(builder, loc({item.body->range.end - 1, item.body->range.end}));
  if (reporter.numErrors == errorsBefore)
    warnAboutParams();
  frame = nullptr;
}
