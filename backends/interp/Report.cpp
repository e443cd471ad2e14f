//===- Report.cpp - findings as diagnostics ------------------------------------------===//

#include "backends/interp/Interp.h"
#include "backends/interp/Findings.h"
#include "backends/interp/Worker.h"
#include "ir/diagnostics/Diagnostics.h"

using namespace mlir;
using namespace tk;
using namespace tk::interp;

/// The kinds of atomic operations, scheduling and promises.
static InFlightDiagnostic emitMore(Location loc, const Finding &finding) {
  const std::array<std::string, 6> &a = finding.args;
  switch (finding.kind) {
  case FindingKind::AtomicOutside:
    return tk::emit<diag::AtomicOutside>(loc, a[0], a[1], a[2], a[3], a[4]);
  case FindingKind::UsesAbsent:
    return tk::emit<diag::UsesAbsent>(loc, a[0], a[1]);
  case FindingKind::RaceReadAtomic:
    return tk::emit<diag::RaceReadAtomic>(loc, a[0], a[1], a[2], a[3]);
  case FindingKind::RaceWriteAtomic:
    return tk::emit<diag::RaceWriteAtomic>(loc, a[0], a[1], a[2], a[3], a[4]);
  case FindingKind::RaceAtomicWritten:
    return tk::emit<diag::RaceAtomicWritten>(loc, a[0], a[1], a[2], a[3]);
  case FindingKind::RaceAtomicRead:
    return tk::emit<diag::RaceAtomicRead>(loc, a[0], a[1], a[2], a[3]);
  case FindingKind::Deadlock: {
    InFlightDiagnostic diag = tk::emit<diag::Deadlock>(loc, a[0], a[1]);
    if (!a[2].empty())
      diag.attachNote() << "program " << a[2]
                        << " has not begun: an instance may wait for those of smaller ids, and for "
                           "any only under `@cooperative`";
    return diag;
  }
  case FindingKind::AssertFailed:
    return tk::emit<diag::AssertFailed>(loc, a[0], a[1], a[2]);
  case FindingKind::AssumptionFalse:
    return tk::emit<diag::AssumptionFalse>(loc, a[0]);
  case FindingKind::HintFalse:
    return tk::emit<diag::HintFalse>(loc, a[0], a[1], a[2], a[3], a[4]);
  case FindingKind::AddressWraps:
    return tk::emit<diag::AddressWraps>(loc, a[0], a[1], a[2], a[3], a[4], a[5]);
  default:
    llvm_unreachable("all kinds are listed");
  }
}

static InFlightDiagnostic emitFinding(Location loc, const Finding &finding, bool nanIsError) {
  const std::array<std::string, 6> &a = finding.args;
  switch (finding.kind) {
  case FindingKind::LoadOutside:
    return tk::emit<diag::LoadOutside>(loc, a[0], a[1], a[2], a[3], a[4]);
  case FindingKind::StoreOutside:
    return tk::emit<diag::StoreOutside>(loc, a[0], a[1], a[2], a[3], a[4]);
  case FindingKind::IndexOutside:
    return tk::emit<diag::IndexOutside>(loc, a[0], a[1], a[2], a[3], a[4]);
  case FindingKind::ReadUnwritten:
    return tk::emit<diag::ReadUnwritten>(loc, a[0], a[1], a[2]);
  case FindingKind::ReadOut:
    return tk::emit<diag::ReadOutParameter>(loc, a[0], a[1], a[2]);
  case FindingKind::WriteIn:
    return tk::emit<diag::WriteInParameter>(loc, a[0], a[1], a[2], a[3]);
  case FindingKind::RaceWriteWrite:
    return tk::emit<diag::RaceWriteWrite>(loc, a[0], a[1], a[2], a[3], a[4]);
  case FindingKind::RaceReadWritten:
    return tk::emit<diag::RaceReadWritten>(loc, a[0], a[1], a[2], a[3]);
  case FindingKind::RaceWriteRead:
    return tk::emit<diag::RaceWriteRead>(loc, a[0], a[1], a[2], a[3], a[4]);
  case FindingKind::NanAppears:
    return nanIsError ? tk::emit<diag::NanMade>(loc, a[0], a[1], a[2])
                      : tk::emit<diag::NanStored>(loc, a[0], a[1], a[2]);
  case FindingKind::StepNotPositive:
    return tk::emit<diag::StepNotPositive>(loc, a[0], a[1]);
  case FindingKind::DivideByZero:
    return tk::emit<diag::DivideByZero>(loc, a[0], a[1], a[2]);
  case FindingKind::DivideOverflow:
    return tk::emit<diag::DivideOverflow>(loc, a[0], a[1], a[2]);
  case FindingKind::ShiftTooWide:
    return tk::emit<diag::ShiftTooWide>(loc, a[0], a[1], a[2], a[3]);
  case FindingKind::DuplicateStore:
    return tk::emit<diag::DuplicateStore>(loc, a[0], a[1], a[2], a[3], a[4], a[5]);
  case FindingKind::TileIndexOutside:
    return tk::emit<diag::TileIndexOutside>(loc, a[0], a[1], a[2], a[3], a[4], a[5]);
  default:
    return emitMore(loc, finding);
  }
}

void tk::interp::report(const Findings &findings, ArrayRef<Location> locations,
                        const Options &options, RunReport &result) {
  bool nanIsError = options.checks.nan == NanCheck::Error;
  for (const Finding &finding : findings.all()) {
    InFlightDiagnostic diag = emitFinding(locations[finding.op], finding, nanIsError);
    bool isError = diag.getUnderlyingDiagnostic()->getSeverity() == DiagnosticSeverity::Error;
    ++(isError ? result.errors : result.warnings);
    if (finding.kind == FindingKind::IndexOutside && !finding.args[5].empty())
      diag.attachNote() << finding.args[5];
    if (finding.further)
      diag.attachNote() << finding.further << " more of this kind at this place";
    if (&finding == &findings.all().back() && findings.leftOut())
      diag.attachNote() << "warnings at " << findings.leftOut() << " more places are not shown";
  }
}
