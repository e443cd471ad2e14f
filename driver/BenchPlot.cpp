//===- BenchPlot.cpp - how launches spread, as SVG -----------------------------------------===//
// One panel a shape: for each candidate the share of launches that took at most so long. A steep
// line is a steady kernel; a line further left is a faster one.

#include "driver/TunePrint.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include <algorithm>
#include <vector>

using namespace tk;
using llvm::StringRef;
using llvm::json::Object;
using llvm::json::Value;

namespace {
constexpr double kWidth = 640, kPanel = 220, kLeft = 50, kRight = 20, kTop = 40, kBottom = 40;
constexpr const char *kColors[] = {"#1f77b4", "#d62728", "#2ca02c", "#9467bd"};

/// The ends of the axis of times.
struct Range {
  double low, high;
  double at(double time) const {
    double span = high > low ? high - low : 1;
    return kLeft + (time - low) / span * (kWidth - kLeft - kRight);
  }
};
} // namespace

static std::string escaped(StringRef text) {
  std::string result;
  for (char c : text)
    result += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : std::string(1, c);
  return result;
}

static std::vector<double> timesOf(const Object &candidate) {
  std::vector<double> times;
  if (const llvm::json::Array *list = candidate.getArray("times"))
    for (const Value &time : *list)
      times.push_back(time.getAsNumber().value_or(0));
  llvm::sort(times);
  return times;
}

static void drawText(llvm::raw_ostream &os, double x, double y, StringRef text,
                     StringRef anchor = "start") {
  os << llvm::format("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor.str().c_str())
     << escaped(text) << "</text>\n";
}

static void drawCurve(llvm::raw_ostream &os, const std::vector<double> &times, const Range &range,
                      double top, const char *color) {
  double height = kPanel - kTop - kBottom;
  os << "<polyline fill=\"none\" stroke=\"" << color << "\" stroke-width=\"1.5\" points=\"";
  for (auto [i, time] : llvm::enumerate(times)) {
    double share = double(i + 1) / double(times.size());
    os << llvm::format("%.1f,%.1f ", range.at(time), top + kTop + height * (1 - share));
  }
  os << "\"/>\n";
}

static void drawPanel(llvm::raw_ostream &os, const Object &shape, StringRef title, double top) {
  std::vector<std::vector<double>> curves;
  std::vector<double> all;
  for (const Value &candidate : *shape.getArray("candidates")) {
    curves.push_back(timesOf(*candidate.getAsObject()));
    llvm::append_range(all, curves.back());
  }
  drawText(os, kLeft, top + 18, (title + ", " + shapeText(*shape.getObject("shape"))).str());
  if (all.empty())
    return;
  Range range{*std::min_element(all.begin(), all.end()), *std::max_element(all.begin(), all.end())};
  double bottom = top + kPanel - kBottom;
  os << llvm::format("<path d=\"M%.1f %.1fV%.1fH%.1f\" fill=\"none\" stroke=\"black\"/>\n", kLeft,
                     top + kTop, bottom, kWidth - kRight);
  std::string low, high;
  llvm::raw_string_ostream(low) << llvm::format("%.2f us", range.low);
  llvm::raw_string_ostream(high) << llvm::format("%.2f us", range.high);
  drawText(os, kLeft, bottom + 16, low);
  drawText(os, kWidth - kRight, bottom + 16, high, "end");
  drawText(os, kLeft - 6, top + kTop + 4, "1", "end");
  drawText(os, kLeft - 6, bottom, "0", "end");
  for (auto [i, curve] : llvm::enumerate(curves)) {
    const char *color = kColors[i % std::size(kColors)];
    drawCurve(os, curve, range, top, color);
    const Object &candidate = *(*shape.getArray("candidates"))[i].getAsObject();
    std::string label = candidate.getString("label").value_or("").str();
    os << "<g fill=\"" << color << "\">";
    drawText(os, kLeft + 8, top + kTop + 14 * double(i + 1),
             label.empty() ? candidate.getString("config_id").value_or("") : StringRef(label));
    os << "</g>\n";
  }
}

std::string tk::benchPlot(const Value &report, StringRef title) {
  const llvm::json::Array &shapes = *report.getAsObject()->getArray("shapes");
  std::string text;
  llvm::raw_string_ostream os(text);
  double height = kPanel * double(std::max<size_t>(shapes.size(), 1));
  os << llvm::format("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
                     "font-family=\"sans-serif\" font-size=\"12\">\n",
                     kWidth, height)
     << "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n";
  for (auto [i, shape] : llvm::enumerate(shapes))
    drawPanel(os, *shape.getAsObject(), title, kPanel * double(i));
  os << "</svg>\n";
  return text;
}
