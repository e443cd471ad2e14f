/*===- tkc/tune.h - time the configurations of a kernel and keep the best ------------------===*\
|*                                                                                              *|
|* C99 and C++17; libtkctune.so.1. Part of tkc, Apache-2.0 WITH LLVM-exception.                 *|
|*                                                                                              *|
|* For the desk and the build, not for serving: it allocates device memory, launches, and       *|
|* synchronizes. It reads and writes one folder, the cache, and only when a path is given; it   *|
|* reads no environment variable and starts no thread. docs/tuning.md is the guide.             *|
|*                                                                                              *|
|*   open  ->  add (candidates)  ->  shape or args (timing)  ->  report, table                  *|
|*                                                                                              *|
|* A launch that faults or never ends takes the device from the whole process, not only from    *|
|* its context: the driver refuses every later call, or waits. Then the candidate is "failed",  *|
|* those that have had all their turns keep their times, the others are "cut short", and the    *|
|* report's device has `lost`, the reason. End the process and start another one with the same  *|
|* cache: it finds the times and the fault there, and times the others. Tune where such an end  *|
|* does no harm: in a process of its own. `tkc tune` does all this by itself.                   *|
\*===----------------------------------------------------------------------------------------===*/
#ifndef TKC_TUNE_H
#define TKC_TUNE_H

#include <tkc/runtime.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tkc_tuner tkc_tuner; /* one device; for one thread at a time */

/* tkc_tune_desc.search */
enum {
  TKC_TUNE_EXHAUSTIVE = 0, /* every candidate gets all its turns, unless it is hopeless         */
  TKC_TUNE_HALVING = 1     /* short turns first; the slower half drops out, turns get longer    */
};

/* Begins with its size, like every descriptor of <tkc/runtime.h>; the same rules hold. */
typedef struct tkc_tune_desc {
  uint32_t size;
  uint32_t search;
  const tkc_driver_desc *driver; /* NULL: CUDA, found by the library itself                      */
  void *context;                 /* CUcontext; NULL: one of its own                              */
  int32_t device;                /* CUDA's ordinal                                               */
  int32_t rounds;                /* turns of a candidate; 0: 5                                   */
  double budget_ms;              /* of a turn, flushes of the L2 cache included; 0: 20           */
  double margin;                 /* a candidate whose best launch is slower than the leader's p80
                                    by more than this share is given up; 0: 0.1                  */
  uint64_t flush_bytes;          /* zeroed ahead of each launch; 0: 256 MiB or twice the L2      */
  uint32_t shard, shards;        /* this run's share of shapes x candidates, from 1; 0, 0: all   */
  const char *cache;             /* a folder, made with mode 0700; NULL: nothing is kept         */
  const char *producer;          /* who compiled, for the table: "tkc 0.1.0"; may be NULL        */
  /* Both may be NULL. `progress` is one line for people, `warn` what is ignored and why. */
  void (*progress)(void *user, const char *text);
  void (*warn)(void *user, const char *text);
  void *user;
  double timeout_ms; /* of what is waited for at once; 0: 10000. A launch that has not ended by then
                        has failed, and the device is lost: what it uses is not given back, which
                        might wait for ever                                                       */
  /* Ahead of each turn of a candidate: whose launch it was when this process is ended by one.
     May be NULL. */
  void (*launching)(void *user, uint32_t candidate, const char *config_id);
} tkc_tune_desc;

/* sizeof(tkc_tune_desc) of release 1.0 */
#define TKC_TUNE_DESC_SIZE_1_0 offsetof(tkc_tune_desc, timeout_ms)

/* tkc_tune_add's flags */
enum {
  TKC_TUNE_AS_SHIPPED = 1 /* one candidate: the bundle's own choice, not each configuration      */
};

/* Opens the driver and the device; its facts are in the report from here on. */
TKC_API tkc_status tkc_tune_open(const tkc_tune_desc *, tkc_tuner **, tkc_error *);
TKC_API void tkc_tune_close(tkc_tuner *);

/*
 * Adds every configuration of a kernel (NULL: the only one) as a candidate. Without `data` in the
 * descriptor a candidate has no code yet: it can be looked up in the cache, and timed after
 * tkc_tune_code. *first and *count (either may be NULL) say which candidates these are.
 */
TKC_API tkc_status tkc_tune_add(tkc_tuner *, const tkc_bundle_desc *, const char *kernel,
                                const tkc_const *, uint32_t n, const char *label, uint32_t flags,
                                uint32_t *first, uint32_t *count, tkc_error *);

/* A configuration that could not be made, so that the report lists it. */
TKC_API tkc_status tkc_tune_add_failed(tkc_tuner *, const char *config_id, const char *reason,
                                       tkc_error *);

/* Gives a candidate that was added without code its bundle; its kernel must be the same. */
TKC_API tkc_status tkc_tune_code(tkc_tuner *, uint32_t candidate, const tkc_bundle_desc *,
                                 tkc_error *);
/* The candidate's compile failed. */
TKC_API tkc_status tkc_tune_fail(tkc_tuner *, uint32_t candidate, const char *reason, tkc_error *);

/*
 * What is timed: values of extents and scalars by name ({"M", "4096"}; `x.e0`, `x.s0`, `p.span`
 * where the kernel leaves them open), and how parameters are filled ({"x", "rand"}: zeros, ones,
 * rand, arange, perm, randint(LOW,HIGH); floats are random and integers 0 otherwise).
 */
typedef struct tkc_tune_problem {
  uint32_t size;
  uint32_t num_values;
  const tkc_const *values;
  const tkc_const *fills;
  uint32_t num_fills;
  uint32_t reserved; /* 0 */
} tkc_tune_problem;

/*
 * A launch of the candidate on this shape ended another process, which could not say so any more: it
 * is listed as failed, kept in the cache as such, and not launched.
 */
TKC_API tkc_status tkc_tune_fault(tkc_tuner *, const tkc_tune_problem *, uint32_t candidate,
                                  const char *reason, tkc_error *);

/*
 * Whether each candidate (as many bytes as there are candidates) would need code for this shape:
 * 0 when its time is in the cache, when it is left out, or when it is another shard's.
 */
TKC_API tkc_status tkc_tune_missing(tkc_tuner *, const tkc_tune_problem *, uint8_t *missing,
                                    uint32_t n, tkc_error *);

/*
 * Times the candidates on memory of its own. What is left out, fails or is given up is in the
 * report and no error; that no candidate could be timed is TKC_E_NO_VARIANT.
 */
TKC_API tkc_status tkc_tune_shape(tkc_tuner *, const tkc_tune_problem *, tkc_error *);

/* tkc_tune_args's flags */
enum {
  TKC_TUNE_LAUNCH = 1 /* launch the winner on the arguments themselves, once, at the end         */
};
/*
 * The same with the caller's arguments. What the kernel writes is copied first and timed on the
 * copy: without TKC_TUNE_LAUNCH the caller's memory is not written, with it as by one launch.
 * Wants the context in which the memory was allocated in tkc_tune_desc, and that no work on the
 * memory is still under way.
 */
TKC_API tkc_status tkc_tune_args(tkc_tuner *, const tkc_arg *, uint32_t n, uint32_t flags,
                                 tkc_error *);

/*
 * Times all candidates in turn, A B A B, none left out or given up and nothing from the cache;
 * every launch's time and the bandwidth of a copy are in the report.
 */
TKC_API tkc_status tkc_tune_bench(tkc_tuner *, const tkc_tune_problem *, tkc_error *);

/*
 * JSON text: all that was found out so far. *bytes: room in `json` before, bytes needed (with the
 * NUL) after; too little room writes nothing and is TKC_E_ARG. The same holds below.
 */
TKC_API tkc_status tkc_tune_report(const tkc_tuner *, char *json, size_t *bytes, tkc_error *);
/* The table: one record for each key that was tuned. */
TKC_API tkc_status tkc_tune_table(const tkc_tuner *, char *json, size_t *bytes, tkc_error *);

/*
 * The caller's own notes in the cache, by a key that is JSON: what a compile gave, so that it need
 * not be repeated. A note that is not there is TKC_E_COLD.
 */
TKC_API tkc_status tkc_tune_note(tkc_tuner *, const char *key, const char *value, tkc_error *);
TKC_API tkc_status tkc_tune_noted(tkc_tuner *, const char *key, char *json, size_t *bytes,
                                  tkc_error *);

/* Joins tables, each a text with a NUL; the order of the tables does not matter. */
TKC_API tkc_status tkc_table_merge(const char *const *tables, uint32_t n, char *json,
                                   size_t *bytes, tkc_error *);

/*
 * Which record of a table a launch of this shape gets, and why: a JSON object with `record` (or
 * null), `key` and `reason`. `description` is the kernel's JSON (a bundle's or a sidecar's); arch,
 * sms and memory_gib are the device's.
 */
TKC_API tkc_status tkc_table_why(const char *table, const tkc_bundle_desc *description,
                                 const char *kernel, const tkc_tune_problem *, const char *arch,
                                 int32_t sms, int32_t memory_gib, char *json, size_t *bytes,
                                 tkc_error *);

#ifdef __cplusplus
}
#endif
#endif /* TKC_TUNE_H */
