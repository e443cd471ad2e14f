/* What the parts of the program share. */
#ifndef CALLER_H
#define CALLER_H

#include <stdio.h>
#include <tkc/cpu.h>
#include <tkc/double.h>
#include <tkc/runtime.h>

#define CHECK(condition) check(condition, #condition, __FILE__, __LINE__)
void check(int is_good, const char *what, const char *file, int line);

/* What the hooks of tkc_driver_desc were given last, and how often. */
struct seen {
  int resolved, allocated, told, warned, refuse;
  const char *symbol;
  double flops, bytes;
  void *stream;
};

/* Our hooks' `user`: in front of another descriptor's resolver. */
struct hooks {
  tkc_driver_desc inner;
  int mark;
};

extern tkc_error error;
extern struct seen seen;
extern const char cubin[64], ptx[64], tk[64]; /* the images, by the digests in kernels.json */

tkc_driver_desc hooked(struct hooks *, tkc_driver_desc inner);
tkc_bundle_desc described(const char image[64]);

void prepare_kernels(tkc_driver *, tkc_double *);
void call_kernels(tkc_driver *, tkc_double *);
void call_types(tkc_driver *, tkc_double *);
void call_own_device(void);

#endif
