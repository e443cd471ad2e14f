//===- Choose.cpp - which variants a kernel loads on a device --------------===//
#include "Error.h"
#include "Kernel.h"
#include "TableLookup.h"

#include <algorithm>
#include <map>
#include <set>

namespace tkcrt {

/// docs/metadata.md, target.match.
static bool runsOn(const tkc_driver &driver, const Target &target, bool isPtx,
                   const DeviceFacts &device) {
  if (target.vendor == Target::Vendor::Cpu)
    return driver.isCpu();
  if (target.vendor == Target::Vendor::Amd)
    return driver.isHip() && target.arch == device.arch;
  if (driver.backend != TKC_CUDA)
    return false;
  bool sameMajor = device.major == target.major;
  switch (target.match) {
  case Target::Match::Exact:
    return sameMajor && device.minor == target.minor;
  case Target::Match::Family:
    return sameMajor && device.minor >= target.minor;
  case Target::Match::AtLeast:
    return (sameMajor && device.minor >= target.minor) || (isPtx && device.major > target.major);
  }
  return false;
}

namespace {
/// What stands between a variant and a device, for the error's text and for tkc_why.
struct Reasons {
  std::string text;
  bool isDriverOld = false;

  void add(const VariantInfo &variant, const std::string &why) {
    text += (text.empty() ? "`" : "; `") + variant.id + "` " + why;
  }
};
} // namespace

/// Can the device run it? If not, why.
static bool isUsable(const tkc_kernel &kernel, const VariantInfo &variant,
                     const DeviceFacts &device, uint32_t flags, Reasons &reasons) {
  const tkc_bundle &bundle = *kernel.bundle;
  bool isPtx = bundle.metadata.images[variant.image].kind == ImageInfo::Kind::Ptx;
  if (!runsOn(*bundle.driver, variant.target, isPtx, device)) {
    reasons.add(variant, "is for " + variant.target.arch + " (" + variant.target.matchName + ")");
  } else if (!bundle.hasImage(variant.image)) {
    reasons.add(variant, "is in another image");
  } else if (isPtx && (flags & TKC_NO_JIT)) {
    reasons.add(variant, "is PTX, which TKC_NO_JIT refuses");
  } else if (variant.driverMin > bundle.driver->version) {
    reasons.isDriverOld = true;
    reasons.add(variant, "needs driver " + std::to_string(variant.driverMin) + ", found " +
                             std::to_string(bundle.driver->version));
  } else {
    return true;
  }
  return false;
}

/// What the variant needs and this library, driver or device lacks; nullptr: nothing.
static const char *missingFor(const tkc_driver &driver, const VariantInfo &variant,
                              const DeviceFacts &device) {
  const Gpu &gpu = driver.gpu;
  if (!variant.unsupported.empty())
    return variant.unsupported.c_str();
  if (driver.isCpu())
    return variant.clusterBlocks() > 1   ? "clusters on the CPU"
           : !variant.tensorMaps.empty() ? "tensor maps on the CPU"
                                         : nullptr;
  if (variant.clusterBlocks() > 1 && (!device.clusters || !gpu.launchKernelEx))
    return "a device and driver with thread block clusters";
  if (variant.isCooperative && (!device.cooperative || !gpu.launchKernelEx))
    return "a device and driver with cooperative launch";
  bool countsBlocks = variant.isCooperative || variant.isCoresident || variant.usesOccupancy;
  if (countsBlocks && !(variant.clusterBlocks() > 1 ? gpu.occupancyClusters != nullptr
                                                    : gpu.occupancyBlocks != nullptr))
    return "a driver that tells the occupancy";
  if (!variant.tensorMaps.empty() && (!gpu.tensorMapEncodeTiled || !gpu.launchKernelEx))
    return "a driver with tensor maps";
  return nullptr;
}

/// The records of an arch that the device runs which are for it: see recordsFor.
static std::vector<size_t> recordsOf(const tkc_kernel &kernel, const DeviceFacts &device,
                                     const std::vector<TuneRecord> &table,
                                     const std::vector<size_t> &usable) {
  std::set<std::string> archs;
  for (size_t index : usable)
    archs.insert(kernel.info->variants[index].target.arch);
  std::vector<size_t> rows;
  std::vector<TableDevice> devices;
  for (size_t i = 0; i < table.size(); ++i)
    if (archs.count(table[i].arch)) {
      rows.push_back(i);
      devices.push_back({table[i].sms, table[i].memoryGib});
    }
  std::vector<size_t> found = recordsFor(devices, {kernel.sms, device.memoryGib},
                                         kernel.info->tune.onMiss == TuneInfo::OnMiss::Nearest);
  for (size_t &index : found)
    index = rows[index];
  return found;
}

/// `132 SMs, 141 GiB`
static std::string deviceText(const TuneRecord &record) {
  std::string text = std::to_string(record.sms) + " SMs";
  return record.memoryGib ? text + ", " + std::to_string(record.memoryGib) + " GiB" : text;
}

static bool hasConfig(const KernelInfo &info, const std::vector<size_t> &usable,
                      const std::string &configId) {
  return std::any_of(usable.begin(), usable.end(),
                     [&](size_t index) { return info.variants[index].configId == configId; });
}

/// A table may name what the bundle lacks: that is said, and an error only if the kernel wants so.
static tkc_status noteMissing(tkc_kernel &kernel, const TuneRecord &record, size_t number,
                              tkc_error *err) {
  const char *name = kernel.info->name.c_str();
  if (kernel.info->tune.onMiss == TuneInfo::OnMiss::Error)
    return fail(err, TKC_E_NO_VARIANT,
                "kernel `%s`: record %zu of the table names configuration \"%s\", which this "
                "bundle has not for this device, and on_miss is error",
                name, number, record.configId.c_str());
  logLine(*kernel.bundle->driver, TKC_LOG_WARNING,
          "kernel `%s`: record %zu of the table names configuration \"%s\", which this bundle has "
          "not for this device",
          name, number, record.configId.c_str());
  kernel.reasons += (kernel.reasons.empty() ? "" : "; ") + ("record " + std::to_string(number)) +
                    " names \"" + record.configId + "\", which is not here";
  return TKC_OK;
}

/// The configuration's index, which is given out at its first use.
static int configIndex(tkc_kernel &kernel, const std::string &id) {
  auto it = std::find(kernel.configs.begin(), kernel.configs.end(), id);
  if (it == kernel.configs.end())
    it = kernel.configs.insert(it, id);
  return static_cast<int>(it - kernel.configs.begin());
}

static tkc_status buildTable(tkc_kernel &kernel, const DeviceFacts &device,
                             const std::vector<TuneRecord> &records,
                             const std::vector<size_t> &usable, tkc_error *err) {
  TuneTable &table = kernel.table;
  table.width = kernel.info->tune.key.size();
  kernel.hasTable = !records.empty();
  std::map<std::vector<int64_t>, size_t> rows; // by key; the first of equal ones counts
  for (size_t index : recordsOf(kernel, device, records, usable))
    rows.emplace(records[index].key, index);
  for (const auto &entry : rows) {
    const TuneRecord &record = records[entry.second];
    if (!hasConfig(*kernel.info, usable, record.configId)) {
      if (tkc_status status = noteMissing(kernel, record, entry.second, err))
        return status;
      continue;
    }
    table.rows.push_back({entry.second, configIndex(kernel, record.configId), deviceText(record)});
    table.keys.insert(table.keys.end(), record.key.begin(), record.key.end());
  }
  return TKC_OK;
}

/// The configuration that is asked for, or else the table.
static tkc_status chooseConfigs(tkc_kernel &kernel, const DeviceFacts &device,
                                const tkc_prepare_desc &desc, const std::vector<size_t> &usable,
                                tkc_error *err) {
  const KernelInfo &info = *kernel.info;
  if (desc.config && *desc.config) {
    kernel.config = configIndex(kernel, desc.config);
    if (hasConfig(info, usable, desc.config))
      return TKC_OK;
    std::set<std::string> all;
    for (size_t index : usable)
      all.insert(info.variants[index].configId);
    std::string text;
    for (const std::string &id : all)
      text += (text.empty() ? "\"" : ", \"") + id + "\"";
    return fail(err, TKC_E_NO_VARIANT,
                "kernel `%s`: no configuration \"%s\" for this device; there is %s",
                info.name.c_str(), desc.config, text.c_str());
  }
  if (!desc.table)
    return buildTable(kernel, device, info.tune.table, usable, err);
  std::vector<TuneRecord> records;
  if (tkc_status status =
          parseTable(static_cast<const char *>(desc.table), desc.table_bytes, info, records, err))
    return status;
  return buildTable(kernel, device, records, usable, err);
}

/// The usable variants that can come to be launched.
static tkc_status keepVariants(tkc_kernel &kernel, const DeviceFacts &device,
                               const std::vector<size_t> &usable, tkc_error *err) {
  const KernelInfo &info = *kernel.info;
  const std::set<std::string> wanted(kernel.configs.begin(), kernel.configs.end());
  for (size_t index : usable) {
    const VariantInfo &variant = info.variants[index];
    if (!variant.isDefault && !wanted.count(variant.configId))
      continue;
    if (const char *missing = missingFor(*kernel.bundle->driver, variant, device))
      return fail(err, TKC_E_UNSUPPORTED, "kernel `%s`: variant `%s` needs %s, which is not here",
                  info.name.c_str(), variant.id.c_str(), missing);
    LoadedVariant loaded;
    loaded.index = index;
    loaded.config = configIndex(kernel, variant.configId);
    kernel.loaded.push_back(loaded);
  }
  return TKC_OK;
}

tkc_status chooseVariants(tkc_kernel &kernel, const DeviceFacts &device,
                          const tkc_prepare_desc &desc, tkc_error *err) {
  const KernelInfo &info = *kernel.info;
  Reasons reasons;
  std::vector<size_t> usable;
  for (size_t index : info.order)
    if (isUsable(kernel, info.variants[index], device, desc.flags, reasons))
      usable.push_back(index);
  if (usable.empty())
    return fail(err, reasons.isDriverOld ? TKC_E_DRIVER_OLD : TKC_E_DEVICE,
                "kernel `%s`: no code for device %d of %s: %s", info.name.c_str(), kernel.device,
                device.text().c_str(), reasons.text.c_str());
  kernel.reasons = reasons.text;
  if (tkc_status status = chooseConfigs(kernel, device, desc, usable, err))
    return status;
  if (tkc_status status = keepVariants(kernel, device, usable, err))
    return status;
  logLine(*kernel.bundle->driver, TKC_LOG_INFO, "kernel `%s`: %zu of %zu variants for device %d",
          info.name.c_str(), kernel.loaded.size(), info.variants.size(), kernel.device);
  return TKC_OK;
}

} // namespace tkcrt
