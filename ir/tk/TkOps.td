//===- TkOps.td - all operations of `tk`, by topic --------------------------===//
include "ir/tk/TkOpsControl.td"
include "ir/tk/TkOpsMemory.td"
include "ir/tk/TkOpsAtomic.td"
include "ir/tk/TkOpsShape.td"
include "ir/tk/TkOpsCompute.td"
include "ir/tk/TkOpsCollective.td"
include "ir/tk/TkOpsDebug.td"
