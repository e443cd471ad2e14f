//===- Api.cpp - the C interface: checks, and no exception gets out --------===//
#include "Error.h"
#include "Table.h"
#include "Tuner.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <new>

using namespace tkctune;
using tkcrt::checkSize;
using tkcrt::fail;
using tkcrt::succeed;

/// Calls `body`; what it throws becomes an error.
template <typename Body>
static tkc_status guarded(const char *call, tkc_error *err, const Body &body) {
  try {
    tkc_status status = body();
    return status ? status : succeed(err);
  } catch (const std::bad_alloc &) {
    return fail(err, TKC_E_NOMEM, "%s: out of memory", call);
  } catch (const Json::exception &error) { // a field of the JSON is not what it should be
    return fail(err, TKC_E_CORRUPT, "%s: %s", call, error.what());
  } catch (const std::exception &error) {
    return fail(err, TKC_E_ARG, "%s: %s", call, error.what());
  }
}

static tkc_status giveText(const std::string &text, char *out, size_t *bytes, tkc_error *err) {
  if (!bytes)
    return fail(err, TKC_E_ARG, "the size_t * is NULL");
  size_t room = *bytes;
  *bytes = text.size() + 1;
  if (!out || room < *bytes)
    return fail(err, TKC_E_ARG, "the text needs %zu bytes, there is room for %zu", *bytes,
                out ? room : 0);
  memcpy(out, text.c_str(), *bytes);
  return TKC_OK;
}

static std::string print(const Json &json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

static tkc_status readProblem(const tkc_tune_problem *from, Problem &out, tkc_error *err) {
  if (tkc_status status = checkSize(from, sizeof(*from), "tkc_tune_problem", err))
    return status;
  for (uint32_t i = 0; i < from->num_values; ++i) {
    const tkc_const &entry = from->values[i];
    if (!entry.name || !entry.value)
      return fail(err, TKC_E_ARG, "value %u of the shape has a NULL name or value", i);
    if (!out.values.emplace(entry.name, entry.value).second)
      return fail(err, TKC_E_ARG, "the shape gives `%s` twice", entry.name);
  }
  for (uint32_t i = 0; i < from->num_fills; ++i) {
    const tkc_const &entry = from->fills[i];
    if (!entry.name || !entry.value)
      return fail(err, TKC_E_ARG, "fill %u has a NULL name or value", i);
    if (tkc_status status = parseFill(entry.name, entry.value, out.fills[entry.name], err))
      return status;
  }
  return TKC_OK;
}

static tkc_status checkBundle(const tkc_bundle_desc *desc, tkc_error *err) {
  if (tkc_status status = checkSize(desc, sizeof(*desc), "tkc_bundle_desc", err))
    return status;
  if (!desc->data && !desc->json)
    return fail(err, TKC_E_ARG, "tkc_bundle_desc: neither data nor json is given");
  return TKC_OK;
}

static tkc_status checkCandidate(const tkc_tuner *tuner, uint32_t index, tkc_error *err) {
  if (tuner && index < tuner->tuner.numCandidates())
    return TKC_OK;
  return fail(err, TKC_E_ARG, "there is no candidate %u", index);
}

tkc_status tkc_tune_open(const tkc_tune_desc *desc, tkc_tuner **out, tkc_error *err) {
  if (!out)
    return fail(err, TKC_E_ARG, "tkc_tune_open: the tkc_tuner ** is NULL");
  *out = nullptr;
  if (tkc_status status =
          checkSize(desc, TKC_TUNE_DESC_SIZE_1_0, sizeof(*desc), "tkc_tune_desc", err))
    return status;
  tkc_tune_desc known{}; // what an older caller does not know stays 0
  memcpy(&known, desc, std::min<size_t>(desc->size, sizeof(known)));
  return guarded("tkc_tune_open", err, [&]() -> tkc_status {
    std::unique_ptr<tkc_tuner> tuner(new tkc_tuner);
    if (tkc_status status = tuner->tuner.open(known, err))
      return status;
    *out = tuner.release();
    return TKC_OK;
  });
}

void tkc_tune_close(tkc_tuner *tuner) {
  delete tuner;
}

tkc_status tkc_tune_add(tkc_tuner *tuner, const tkc_bundle_desc *desc, const char *kernel,
                        const tkc_const *consts, uint32_t n, const char *label, uint32_t flags,
                        uint32_t *first, uint32_t *count, tkc_error *err) {
  if (!tuner || (n && !consts) || flags > TKC_TUNE_AS_SHIPPED)
    return fail(err, TKC_E_ARG, "tkc_tune_add: a NULL tuner, NULL constants or unknown flags");
  if (tkc_status status = checkBundle(desc, err))
    return status;
  return guarded("tkc_tune_add", err, [&] {
    size_t before = tuner->tuner.numCandidates();
    tkc_status status = tuner->tuner.add(*desc, kernel, consts, n, label, flags, err);
    if (first)
      *first = static_cast<uint32_t>(before);
    if (count)
      *count = static_cast<uint32_t>(tuner->tuner.numCandidates() - before);
    return status;
  });
}

tkc_status tkc_tune_add_failed(tkc_tuner *tuner, const char *config_id, const char *reason,
                               tkc_error *err) {
  if (!tuner || !config_id || !reason)
    return fail(err, TKC_E_ARG, "tkc_tune_add_failed: a NULL tuner, name or reason");
  return guarded("tkc_tune_add_failed", err, [&] {
    tuner->tuner.addFailed(config_id, reason);
    return TKC_OK;
  });
}

tkc_status tkc_tune_code(tkc_tuner *tuner, uint32_t candidate, const tkc_bundle_desc *desc,
                         tkc_error *err) {
  if (tkc_status status = checkCandidate(tuner, candidate, err))
    return status;
  if (tkc_status status = checkBundle(desc, err))
    return status;
  return guarded("tkc_tune_code", err,
                 [&] { return tuner->tuner.giveCode(candidate, *desc, err); });
}

tkc_status tkc_tune_fail(tkc_tuner *tuner, uint32_t candidate, const char *reason, tkc_error *err) {
  if (tkc_status status = checkCandidate(tuner, candidate, err))
    return status;
  if (!reason)
    return fail(err, TKC_E_ARG, "tkc_tune_fail: the reason is NULL");
  return guarded("tkc_tune_fail", err, [&] {
    tuner->tuner.markFailed(candidate, reason);
    return TKC_OK;
  });
}

/// Calls `body` with the problem, read.
template <typename Body>
static tkc_status withProblem(const char *call, tkc_tuner *tuner, const tkc_tune_problem *problem,
                              tkc_error *err, const Body &body) {
  if (!tuner)
    return fail(err, TKC_E_ARG, "%s: the tkc_tuner * is NULL", call);
  return guarded(call, err, [&]() -> tkc_status {
    Problem read;
    if (tkc_status status = readProblem(problem, read, err))
      return status;
    return body(read);
  });
}

tkc_status tkc_tune_fault(tkc_tuner *tuner, const tkc_tune_problem *problem, uint32_t candidate,
                          const char *reason, tkc_error *err) {
  if (tkc_status status = checkCandidate(tuner, candidate, err))
    return status;
  if (!reason)
    return fail(err, TKC_E_ARG, "tkc_tune_fault: the reason is NULL");
  return withProblem("tkc_tune_fault", tuner, problem, err, [&](const Problem &read) {
    return tuner->tuner.markFaulted(candidate, read, reason, err);
  });
}

tkc_status tkc_tune_missing(tkc_tuner *tuner, const tkc_tune_problem *problem, uint8_t *missing,
                            uint32_t n, tkc_error *err) {
  return withProblem("tkc_tune_missing", tuner, problem, err, [&](const Problem &read) {
    return tuner->tuner.missing(read, missing, n, err);
  });
}

tkc_status tkc_tune_shape(tkc_tuner *tuner, const tkc_tune_problem *problem, tkc_error *err) {
  return withProblem("tkc_tune_shape", tuner, problem, err,
                     [&](const Problem &read) { return tuner->tuner.tuneShape(read, err); });
}

tkc_status tkc_tune_bench(tkc_tuner *tuner, const tkc_tune_problem *problem, tkc_error *err) {
  return withProblem("tkc_tune_bench", tuner, problem, err,
                     [&](const Problem &read) { return tuner->tuner.bench(read, err); });
}

tkc_status tkc_tune_args(tkc_tuner *tuner, const tkc_arg *args, uint32_t n, uint32_t flags,
                         tkc_error *err) {
  if (!tuner || (n && !args) || flags > TKC_TUNE_LAUNCH)
    return fail(err, TKC_E_ARG, "tkc_tune_args: a NULL tuner, NULL arguments or unknown flags");
  return guarded("tkc_tune_args", err, [&] { return tuner->tuner.tuneArgs(args, n, flags, err); });
}

tkc_status tkc_tune_report(const tkc_tuner *tuner, char *json, size_t *bytes, tkc_error *err) {
  if (!tuner)
    return fail(err, TKC_E_ARG, "tkc_tune_report: the tkc_tuner * is NULL");
  return guarded("tkc_tune_report", err,
                 [&] { return giveText(print(tuner->tuner.report()), json, bytes, err); });
}

tkc_status tkc_tune_table(const tkc_tuner *tuner, char *json, size_t *bytes, tkc_error *err) {
  if (!tuner)
    return fail(err, TKC_E_ARG, "tkc_tune_table: the tkc_tuner * is NULL");
  return guarded("tkc_tune_table", err,
                 [&] { return giveText(printTable(tuner->tuner.table()), json, bytes, err); });
}

static tkc_status readKey(const char *key, Json &out, tkc_error *err) {
  if (!key)
    return fail(err, TKC_E_ARG, "the note's key is NULL");
  Json inner;
  if (tkc_status status = tkcrt::parseJson(key, strlen(key), inner, err))
    return status;
  out = {{"what", "note"}, {"note", inner}};
  return TKC_OK;
}

tkc_status tkc_tune_note(tkc_tuner *tuner, const char *key, const char *value, tkc_error *err) {
  if (!tuner || !value)
    return fail(err, TKC_E_ARG, "tkc_tune_note: a NULL tuner or value");
  return guarded("tkc_tune_note", err, [&]() -> tkc_status {
    Json read;
    if (tkc_status status = readKey(key, read, err))
      return status;
    tuner->tuner.notes().store(read, value);
    return TKC_OK;
  });
}

tkc_status tkc_tune_noted(tkc_tuner *tuner, const char *key, char *json, size_t *bytes,
                          tkc_error *err) {
  if (!tuner)
    return fail(err, TKC_E_ARG, "tkc_tune_noted: the tkc_tuner * is NULL");
  return guarded("tkc_tune_noted", err, [&]() -> tkc_status {
    Json read, value;
    if (tkc_status status = readKey(key, read, err))
      return status;
    if (!tuner->tuner.notes().find(read, value) || !value.is_string())
      return fail(err, TKC_E_COLD, "there is no such note");
    return giveText(value.get<std::string>(), json, bytes, err);
  });
}

tkc_status tkc_table_merge(const char *const *tables, uint32_t n, char *json, size_t *bytes,
                           tkc_error *err) {
  if (n && !tables)
    return fail(err, TKC_E_ARG, "tkc_table_merge: the tables are NULL");
  return guarded("tkc_table_merge", err, [&]() -> tkc_status {
    Json all = Json::array();
    for (uint32_t i = 0; i < n; ++i) {
      Json table;
      if (tkc_status status = parseTable(tables[i] ? tables[i] : "", table, err))
        return status;
      for (const Json &record : table)
        all.push_back(record);
    }
    return giveText(printTable(mergeRecords(all)), json, bytes, err);
  });
}

static tkc_status explain(const std::string &tableText, const tkc_bundle_desc &description,
                          const char *kernelName, const Problem &problem, TableQuery &query,
                          Json &out, tkc_error *err) {
  Json table;
  if (tkc_status status = parseTable(tableText, table, err))
    return status;
  Source source;
  if (tkc_status status = readSource(description, source, err))
    return status;
  const Json *kernel = nullptr;
  if (tkc_status status =
          findKernelJson(source.document, kernelName ? kernelName : "", nullptr, 0, kernel, err))
    return status;
  Plan plan;
  if (tkc_status status = plan.fromProblem(*kernel, problem, static_cast<int>(query.sms), err))
    return status;
  const Json *tune = member(*kernel, "tune");
  const Json space = tune ? *tune : Json::object();
  for (const Json &expr : space.value("key", Json::array())) {
    query.key.emplace_back();
    if (tkc_status status = plan.names.evaluate(expr, "tune.key", query.key.back(), err))
      return status;
  }
  query.kernel = (*kernel)["kernel"].get<std::string>();
  query.instance = kernel->value("instance", Json::object());
  query.dtypes = plan.dtypes();
  query.onMiss = space.value("on_miss", "default");
  if (tkc_status status = checkKeys(table, query, err))
    return status;
  std::string reason;
  const Json *record = findRecord(table, query, reason);
  out = {{"key", query.key}, {"reason", reason}, {"record", record ? *record : Json()}};
  if (record && record->contains("space_hash"))
    out["same_space"] = record->value("space_hash", "") == spaceHash(space);
  return TKC_OK;
}

tkc_status tkc_table_why(const char *table, const tkc_bundle_desc *description, const char *kernel,
                         const tkc_tune_problem *problem, const char *arch, int32_t sms,
                         int32_t memory_gib, char *json, size_t *bytes, tkc_error *err) {
  if (!table || !arch)
    return fail(err, TKC_E_ARG, "tkc_table_why: a NULL table or arch");
  if (tkc_status status = checkBundle(description, err))
    return status;
  return guarded("tkc_table_why", err, [&]() -> tkc_status {
    Problem read;
    if (tkc_status status = readProblem(problem, read, err))
      return status;
    TableQuery query;
    query.arch = arch;
    query.sms = sms;
    query.memoryGib = memory_gib;
    Json out;
    if (tkc_status status = explain(table, *description, kernel, read, query, out, err))
      return status;
    return giveText(print(out), json, bytes, err);
  });
}
