//===- BuiltinsAccess.cpp - load, store, prefetch -------------------------------===//

#include "frontend/MemoryLowerer.h"

using namespace mlir;
using namespace tk;

Val MemoryLowerer::buildLoad(CallArgs &args) {
  enum { Source, Mask, Fill, Cache, Evict, Volatile };
  if (args.poisoned())
    return Val::poison();
  MemoryTarget &target = *args.target;
  std::optional<AccessHints> access = hints(args, Cache, Evict, {"ca", "cg", "cs", "cv"});
  std::optional<bool> isVolatile = truth(args, Volatile, "volatile");
  if (!mayRead(target) || !access || !isVolatile)
    return Val::poison();
  access->isVolatile = *isVolatile;
  const Val &mask = args.values[Mask], &fill = args.values[Fill];
  if (target.place) {
    bool good = addOption(target.place->mask, mask, args.rangeOf(Mask), "mask") &&
                addOption(target.place->fill, fill, args.rangeOf(Fill), "fill");
    return good ? walk.readPlace(*target.place, *access) : Val::poison();
  }
  bool good = true;
  RunType type = target.type();
  Value maskTile = walk.maskValue(mask, type.shape, args.rangeOf(Mask), good);
  Value fillScalar = walk.fillValue(fill, type, args.rangeOf(Fill), good);
  if (!good)
    return Val::poison();
  if (!maskTile)
    walk.warnUnmasked(target.pointer.value, args.range, args.builtin->name);
  UnitAttr volatileAttr = access->isVolatile ? builder.getUnitAttr() : UnitAttr();
  Value result =
      LoadOp::create(builder, walk.loc(args.range), walk.mlirType(type), target.pointer.value,
                     maskTile, fillScalar, access->cache, access->evict, volatileAttr);
  return Val::run(result, type);
}

Val MemoryLowerer::buildStore(CallArgs &args) {
  enum { Target, Stored, Mask, Cache, Evict };
  if (args.poisoned())
    return Val::unit();
  MemoryTarget &target = *args.target;
  std::optional<AccessHints> access = hints(args, Cache, Evict, {"wb", "cg", "cs", "wt"});
  if (!mayWrite(target, args.builtin->name) || !refuseFill(target, "written") || !access)
    return Val::unit();
  const Val &value = args.values[Stored], &mask = args.values[Mask];
  if (target.place) {
    if (addOption(target.place->mask, mask, args.rangeOf(Mask), "mask"))
      walk.writePlace(*target.place, value, args.rangeOf(Stored), *access);
    return Val::unit();
  }
  bool good = true;
  RunType type = target.type();
  Value maskTile = walk.maskValue(mask, type.shape, args.rangeOf(Mask), good);
  Value stored = walk.coerce(value, type, args.rangeOf(Stored), args.builtin->name);
  if (!good || !stored)
    return Val::unit();
  if (!maskTile)
    walk.warnUnmasked(target.pointer.value, args.range, args.builtin->name);
  StoreOp::create(builder, walk.loc(args.range), stored, target.pointer.value, maskTile,
                  access->cache, access->evict);
  return Val::unit();
}

Val MemoryLowerer::buildPrefetch(CallArgs &args) {
  enum { Source, Mask, Evict };
  if (args.poisoned())
    return Val::unit();
  MemoryTarget &target = *args.target;
  std::optional<EvictHintAttr> evict = evictHint(args, Evict);
  if (!mayRead(target) || !refuseFill(target, "prefetched") || !evict)
    return Val::unit();
  const Val &mask = args.values[Mask];
  Located located{target.pointer, Value()};
  bool good = true;
  if (target.place) {
    if (!addOption(target.place->mask, mask, args.rangeOf(Mask), "mask"))
      return Val::unit();
    located = walk.locatePlace(*target.place, "prefetch");
    good = bool(located.exists);
  } else
    located.exists = walk.maskValue(mask, target.type().shape, args.rangeOf(Mask), good);
  if (good)
    PrefetchOp::create(builder, walk.loc(args.range), located.pointer.value, located.exists,
                       *evict);
  return Val::unit();
}
