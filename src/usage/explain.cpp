#include "usage/explain.hpp"

#include <fmt/format.h>

#include "base/time_text.hpp"

namespace tenure::usage {
namespace {

using explain::Counted;
using explain::Explanation;

void AddSending(Explanation& out, const WindowView& view, bool with_counts) {
  out.Because({.code = "sending",
               .text = with_counts
                           ? fmt::format("Of its {} {} not acknowledged by the receiver.",
                                         Counted(view.window.records, "one record", "records"),
                                         Counted(view.unsent_records, "one is", "are"))
                           : "The receiver has not acknowledged all of its records."});
  out.next = {"They are sent again and again until the receiver takes or refuses them.", 0};
  if (view.refused_records == 0) return;
  out.Because(
      {.code = "refused",
       .text = with_counts
                   ? fmt::format("{}: it says that they are wrong.",
                                 Counted(view.refused_records, "The receiver refuses one of them",
                                         "of them are refused by the receiver"))
                   : "The receiver refuses some of them: it says that they are wrong."});
  out.next = {"When the receiver is mended, a resend tells it of the refused ones once more.", 0};
}

}  // namespace

std::string_view StateOf(const WindowView& view) {
  switch (view.window.state) {
    case WindowState::kClosed:
      return "closed";
    case WindowState::kEmitting:
      return "emitting";
    case WindowState::kEmitted:
      return view.unsent_records > 0 ? "sending" : "sent";
  }
  return "";
}

Explanation Explain(const WindowView& view, bool with_counts) {
  const Window& window = view.window;
  const std::string number = fmt::to_string(window.number);
  Explanation out{
      .kind = "usage", .id = number, .state = std::string(StateOf(view)), .docs = "docs/usage.md"};
  out.Because({.code = "window",
               .text = fmt::format("Window {} is of {} to {}, and was closed at {}.", number,
                                   base::UtcText(window.start_ms), base::UtcText(window.end_ms),
                                   base::UtcText(window.sealed_ms)),
               .since_ms = window.sealed_ms});
  switch (window.state) {
    case WindowState::kClosed:
      out.Because(
          {.code = "nobody-told", .text = "Nobody was told of it: there was no usage.endpoint."});
      out.next = {"Its records can be read, and sent when there is an endpoint.", 0};
      out.actions = {{.act = "usage.send",
                      .title = fmt::format("Send from window {} on", number),
                      .scope = "admin",
                      .method = "POST",
                      .path = "/usage/send",
                      .body = fmt::format(R"({{"fromWindow":{}}})", number),
                      .command = "tenure usage send --from " + number}};
      break;
    case WindowState::kEmitting:
      out.Because({.code = "emitting", .text = "Its records are put together for the receiver."});
      out.next = {"Then they are sent.", 0};
      break;
    case WindowState::kEmitted:
      if (view.unsent_records > 0) {
        AddSending(out, view, with_counts);
      } else {
        out.Because({.code = "sent",
                     .text = with_counts
                                 ? fmt::format("The receiver has acknowledged all of its {}.",
                                               Counted(window.records, "one record", "records"))
                                 : "The receiver has acknowledged all of its records."});
        out.next = {"It is kept for its retention.", 0};
      }
      if (view.refused_records > 0)
        out.actions = {{.act = "usage.resend",
                        .title = "Send refused records again",
                        .scope = "admin",
                        .method = "POST",
                        .path = "/usage/refused/resend",
                        .command = "tenure usage resend"}};
  }
  return out;
}

}  // namespace tenure::usage
