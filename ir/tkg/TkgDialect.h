//===- TkgDialect.h - the dialect `tkg` for C++ ------------------------------===//
#pragma once

#include "ir/layout/LinearLayout.h"
#include "ir/tk/TkDialect.h"

#include "ir/tkg/TkgDialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "ir/tkg/TkgAttrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "ir/tkg/TkgTypes.h.inc"

#define GET_OP_CLASSES
#include "ir/tkg/TkgOps.h.inc"

namespace tkg {

/// The layout of a tile type, or null when it has none (or `type` is a scalar).
LayoutAttr layoutOf(mlir::Type type);

/// `type` with the layout `layout`.
mlir::RankedTensorType withLayout(mlir::Type type, LayoutAttr layout);

} // namespace tkg
