/* Memory of a device, for the programs of this folder. An engine has its own; this finds libcuda at
 * run time, so that the programs build where there is no CUDA, and uses malloc for the CPU device. */
#ifndef APPS_MEMORY_H
#define APPS_MEMORY_H
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* "cpu" or "cuda". 0 is good; else it has said on standard error what is missing. */
int memory_open(const char *device);
/* NULL when there is no more. */
void *memory_alloc(size_t bytes);
void memory_free(void *memory);
/* Both wait until it is done. 0 is good. */
int memory_upload(void *device, const void *host, size_t bytes);
int memory_download(void *host, const void *device, size_t bytes);

#ifdef __cplusplus
}
#endif
#endif
