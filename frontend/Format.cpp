//===- Format.cpp - source text in the one style --------------------------------===//
//
// Walks the tree and has LineWriter write each statement, header and attribute line.
//
//===----------------------------------------------------------------------===//

#include "frontend/Format.h"
#include "frontend/AstPrinter.h"
#include "frontend/FormatLines.h"
#include "frontend/Parser.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace tk;
using namespace tk::ast;
using namespace tk::format;

namespace {

class Formatter {
public:
  explicit Formatter(const FormatTokens &tokens) : tokens(tokens), writer(tokens) {}

  std::string format(const File &file);

private:
  void write(const Decl &decl, unsigned indent);
  void node(const Kernel &decl, unsigned indent);
  void node(const Function &decl, unsigned indent);
  void node(const Struct &decl, unsigned indent);
  void node(const Const &decl, unsigned indent) { line(decl, indent); }
  void node(const Import &decl, unsigned indent) { line(decl, indent); }

  void write(const Stmt &stmt, unsigned indent);
  void node(const If &stmt, unsigned indent);
  void loop(const Stmt &stmt, llvm::ArrayRef<Attribute> attributes, const Block &body,
            unsigned indent);

  bool isInline(const Kernel &decl, unsigned indent) const;
  void attributes(llvm::ArrayRef<Attribute> attributes, unsigned indent);
  void statements(const Block &block, unsigned indent);
  void body(const Block &block, unsigned indent);
  void closing(unsigned brace, unsigned last, unsigned indent);

  void line(unsigned first, unsigned last, unsigned indent,
            Continuation continuation = Continuation::Normal) {
    writer.write(first, last, indent, continuation,
                 [&](const Block &block, unsigned inner) { statements(block, inner); });
  }
  void line(const Node &node, unsigned indent) {
    line(tokens.first(node), tokens.last(node), indent);
  }
  void header(unsigned first, unsigned last, unsigned indent) {
    line(first, last, indent, Continuation::Header);
  }
  bool isFlat(const Node &node, unsigned indent) const {
    return writer.isFlat(tokens.first(node), tokens.last(node), indent);
  }

  const FormatTokens &tokens;
  LineWriter writer;
};

} // namespace

//===----------------------------------------------------------------------===//
// Blocks and statements
//===----------------------------------------------------------------------===//

void Formatter::statements(const Block &block, unsigned indent) {
  for (const Stmt *stmt : block.stmts)
    write(*stmt, indent);
}

/// What stands between the braces of a block, and the comments before the `}`.
void Formatter::body(const Block &block, unsigned indent) {
  writer.suppressBlank();
  statements(block, indent + kIndent);
  writer.writeComments(tokens.last(block), indent + kIndent);
}

/// The line that begins with the `}` of a block.
void Formatter::closing(unsigned brace, unsigned last, unsigned indent) {
  writer.suppressBlank();
  header(brace, last, indent);
}

void Formatter::write(const Stmt &stmt, unsigned indent) {
  llvm::TypeSwitch<const Stmt *>(&stmt)
      .Case<For, While>([&](const auto *sub) { loop(*sub, sub->attributes, *sub->body, indent); })
      .Case<If>([&](const If *sub) { node(*sub, indent); })
      .Default([&](const Stmt *) { line(stmt, indent); });
}

/// One block after another; `} else {` joins two.
void Formatter::node(const If &stmt, unsigned indent) {
  if (isFlat(stmt, indent))
    return line(stmt, indent);
  llvm::SmallVector<const Block *> blocks;
  for (const IfArm &arm : stmt.arms)
    blocks.push_back(arm.body);
  if (stmt.elseBody)
    blocks.push_back(stmt.elseBody);
  unsigned first = tokens.first(stmt);
  for (const Block *block : blocks) {
    unsigned open = tokens.first(*block);
    if (block == blocks.front()) {
      header(first, open, indent);
    } else if (tokens[first].hasTrailing || tokens[first + 1].numComments) {
      closing(first, first, indent);
      header(first + 1, open, indent);
    } else {
      closing(first, open, indent);
    }
    body(*block, indent);
    first = tokens.last(*block);
  }
  closing(first, first, indent);
}

/// Attributes stand on the line of their loop only where their author had them there.
void Formatter::loop(const Stmt &stmt, llvm::ArrayRef<Attribute> attributesOf, const Block &block,
                     unsigned indent) {
  unsigned first = tokens.first(stmt), open = tokens.first(block), last = tokens.last(stmt);
  if (!attributesOf.empty()) {
    unsigned keyword = tokens.last(attributesOf.back()) + 1;
    bool isBroken = tokens[keyword].newline;
    for (const Attribute &attribute : attributesOf.drop_front())
      isBroken |= tokens[tokens.first(attribute)].newline;
    if (isBroken || !writer.isFlat(first, open, indent)) {
      attributes(attributesOf, indent);
      first = keyword;
    }
  }
  if (writer.isFlat(first, last, indent))
    return line(first, last, indent);
  header(first, open, indent);
  body(block, indent);
  closing(last, last, indent);
}

//===----------------------------------------------------------------------===//
// Declarations
//===----------------------------------------------------------------------===//

void Formatter::write(const Decl &decl, unsigned indent) {
  if (isFlat(decl, indent))
    return line(decl, indent);
  llvm::TypeSwitch<const Decl *>(&decl).Case<Kernel, Function, Struct, Const, Import>(
      [&](const auto *sub) { node(*sub, indent); });
}

/// Attributes that share a line go on doing so while they fit.
void Formatter::attributes(llvm::ArrayRef<Attribute> attributes, unsigned indent) {
  while (!attributes.empty()) {
    unsigned first = tokens.first(attributes.front());
    size_t count = 1;
    while (count < attributes.size() && !tokens[tokens.first(attributes[count])].newline)
      ++count;
    if (!writer.isFlat(first, tokens.last(attributes[count - 1]), indent))
      count = 1;
    line(first, tokens.last(attributes[count - 1]), indent);
    attributes = attributes.drop_front(count);
  }
}

/// True when the attributes and the `{` stand behind the parameters, as their author had it.
bool Formatter::isInline(const Kernel &decl, unsigned indent) const {
  bool broken = llvm::any_of(decl.attributes, [&](const Attribute &attribute) {
    return tokens[tokens.first(attribute)].newline;
  });
  return decl.attributes.empty() ||
         (!broken && writer.isFlat(tokens.first(decl), tokens.first(*decl.body) - 1, indent + 2));
}

void Formatter::node(const Kernel &decl, unsigned indent) {
  unsigned first = tokens.first(decl), open = tokens.first(*decl.body);
  if (isInline(decl, indent)) {
    header(first, open, indent);
  } else {
    header(first, tokens.first(decl.attributes.front()) - 1, indent);
    attributes(decl.attributes, indent + kIndent);
    writer.writeComments(open, indent + kIndent);
    writer.suppressBlank();
    header(open, open, indent);
  }
  body(*decl.body, indent);
  closing(tokens.last(decl), tokens.last(decl), indent);
}

void Formatter::node(const Function &decl, unsigned indent) {
  header(tokens.first(decl), tokens.first(*decl.body), indent);
  body(*decl.body, indent);
  closing(tokens.last(decl), tokens.last(decl), indent);
}

/// Members stand on lines of their own, without `,`.
void Formatter::node(const Struct &decl, unsigned indent) {
  llvm::SmallVector<const Node *> members;
  for (const StructField &field : decl.fields)
    members.push_back(&field);
  for (const Function *method : decl.methods)
    members.push_back(method);
  llvm::sort(members, [](const Node *a, const Node *b) { return a->range.begin < b->range.begin; });
  unsigned close = tokens.last(decl);
  header(tokens.first(decl), tokens[close].match, indent);
  writer.suppressBlank();
  for (const Node *member : members)
    if (const auto *method = llvm::find(decl.methods, member); method != decl.methods.end())
      write(**method, indent + kIndent);
    else
      line(*member, indent + kIndent);
  writer.writeComments(close, indent + kIndent);
  closing(close, close, indent);
}

std::string Formatter::format(const File &file) {
  for (const Decl *decl : file.decls)
    write(*decl, 0);
  writer.writeComments(tokens.size() - 1, 0);
  return writer.finish();
}

//===----------------------------------------------------------------------===//
// The whole
//===----------------------------------------------------------------------===//

/// What must not change: the shape of the tree, and the comments.
static std::string essenceOf(const File &file, const FormatTokens &tokens) {
  std::string essence;
  llvm::raw_string_ostream os(essence);
  dumpAst(file, os);
  for (const Comment &comment : tokens.getComments())
    os << comment.text << '\n';
  return essence;
}

llvm::FailureOr<std::string> tk::formatSource(mlir::MLIRContext &context,
                                              const SourceFile &source) {
  llvm::FailureOr<std::unique_ptr<File>> file = parseFile(context, source);
  if (failed(file))
    return llvm::failure();
  FormatTokens tokens(context, **file);
  std::string text = Formatter(tokens).format(**file);

  // Nobody reads what a formatter did to his file: better to refuse than to change a meaning.
  SourceFile result(source.getPath().str(), text);
  llvm::FailureOr<std::unique_ptr<File>> again = parseFile(context, result);
  if (failed(again) ||
      essenceOf(**again, FormatTokens(context, **again)) != essenceOf(**file, tokens))
    return emit<diag::InternalError>(source.getLocation(context, {0, 0}),
                                     "formatting would change what the file means");
  return text;
}
