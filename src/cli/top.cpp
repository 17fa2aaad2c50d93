#include "cli/top.hpp"

#include <algorithm>
#include <charconv>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "base/json_writer.hpp"
#include "cli/flags.hpp"
#include "cli/watch.hpp"
#include "config/printable.hpp"

namespace tenure::cli {
namespace {

constexpr std::size_t kMostTyped = 500;

constexpr std::string_view kHelp = R"(1 to 6      another screen
up, down    another row (k, j)
enter       why is it so?
a           act on it
s           sort by the next column
/           only rows with a text
p           pause, and go on
q           end (Ctrl-C)

Any key goes back.)";

std::vector<std::string> LinesOf(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

/// A text in lines of at most so many columns, broken at spaces.
std::vector<std::string> Wrapped(const std::string& text, std::size_t columns) {
  std::vector<std::string> lines;
  for (const std::string& paragraph : LinesOf(text)) {
    std::string line;
    std::istringstream words(paragraph);
    for (std::string word; words >> word;) {
      if (!line.empty() && config::DisplayWidth(line) + 1 + config::DisplayWidth(word) > columns) {
        lines.push_back(line);
        line.clear();
      }
      line += (line.empty() ? "" : " ") + word;
    }
    lines.push_back(line);
  }
  return lines;
}

/// Numbers by their size, everything else by its letters.
bool ComesFirst(const std::string& one, const std::string& other) {
  const auto number = [](const std::string& text) -> std::optional<std::int64_t> {
    std::int64_t value = 0;
    const char* const end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data(), end, value);
    if (parsed.ec != std::errc{} || parsed.ptr != end) return std::nullopt;
    return value;
  };
  const auto left = number(one);
  const auto right = number(other);
  return left && right ? *left > *right : one < other;  // the largest number first
}

/// What a refusal says, in one line.
std::string RefusalText(const Answer& answer) {
  std::ostringstream out;
  std::ostringstream err;
  Console console{.out = out, .err = err};
  ReportRefusal(answer, Form::kTable, console);
  std::string text = err.str();
  std::ranges::replace(text, '\n', ' ');
  return text;
}

http::Method MethodOf(const std::string& text) {
  if (text == "PUT") return http::Method::kPut;
  if (text == "PATCH") return http::Method::kPatch;
  return text == "DELETE" ? http::Method::kDelete : http::Method::kPost;
}

/// The body of an act with its reason. Where dead letters are meant, `reason` is of what they died.
std::string WithReason(const std::string& path, const std::string& body,
                       const std::string& reason) {
  const bool of_letters = path.starts_with("/api/v1/dead-letters/");
  std::string text;
  base::JsonWriter json(text);
  json.BeginObject().Field(of_letters ? "because" : "reason", std::string_view(reason)).EndObject();
  const bool alone = body.size() <= 2;  // {}
  return alone ? text : fmt::format("{},{}", text.substr(0, text.size() - 1), body.substr(1));
}

}  // namespace

Top::Top(std::vector<View> views, std::string where, std::string name_to_type)
    : views_(std::move(views)), where_(std::move(where)), name_to_type_(std::move(name_to_type)) {}

std::optional<TopAsk> Top::Look() const {
  if (is_paused_ && is_loaded_) return std::nullopt;
  return TopAsk{.path = views_[view_].path, .view = view_};
}

std::optional<TopAsk> Top::Wanted() { return std::exchange(wanted_, std::nullopt); }

void Top::Away(std::string_view why) { trouble_ = config::Printable(why); }

void Top::Show(std::size_t view) {
  if (view >= views_.size() || view == view_) return;
  view_ = view;
  rows_.clear();
  is_loaded_ = false;
  for (std::string* text : {&selected_, &filter_, &note_, &trouble_, &head_}) text->clear();
  sorted_by_ = 0;
  wanted_ = Look();
}

void Top::Take(const TopAsk& ask, const Answer& answer) {
  if (ask.view != view_) return;  // of a screen that was left
  if (ask.purpose == TopAsk::For::kView) {
    TakeRows(answer);
  } else if (ask.purpose == TopAsk::For::kWhy) {
    TakeWhy(answer);
  } else {
    note_ = answer.ok() ? "done" : RefusalText(answer);
    wanted_ = Look();
  }
}

void Top::TakeRows(const Answer& answer) {
  is_loaded_ = true;
  trouble_ = answer.ok() ? "" : RefusalText(answer);
  if (!answer.ok()) return;
  const View& view = views_[view_];
  const JsonRow page = JsonRow::Parse(answer.body);
  head_ = view.head == nullptr ? "" : view.head(page);
  rows_.clear();
  for (const std::string& item : page.Items(view.items)) {
    const JsonRow json = JsonRow::Parse(item);
    Row row{.id = json.Text(view.id)};
    for (const Column& column : view.columns)
      row.cells.push_back(config::Printable(column.cell(json, column.field, answer.server_now_ms)));
    rows_.push_back(std::move(row));
  }
}

void Top::TakeWhy(const Answer& answer) {
  acts_.clear();
  if (!answer.ok()) {
    why_ = RefusalText(answer);
    mode_ = Mode::kWhy;
    return;
  }
  const JsonRow why = JsonRow::Parse(answer.body);
  const std::string next = JsonRow::Parse(why.Text("next")).Text("text");
  why_ = config::Printable(why.Text("sentence"));
  if (!next.empty()) why_ += "\nNext: " + config::Printable(next);
  std::string commands;
  for (const std::string& item : why.Items("actions")) {
    const JsonRow act = JsonRow::Parse(item);
    if (!act.Bool("allowed")) {
      commands += fmt::format("\n  {} needs the scope {}", config::Printable(act.Text("title")),
                              config::Printable(act.Text("scope")));
      continue;
    }
    acts_.push_back({.title = config::Printable(act.Text("title")),
                     .path = act.Text("path"),
                     .body = act.Text("body"),
                     .method = MethodOf(act.Text("method")),
                     .is_danger = act.Bool("danger")});
    commands += fmt::format("\n  {}. {}   $ {}", acts_.size(), acts_.back().title,
                            config::Printable(act.Text("command")));
  }
  if (!commands.empty()) why_ += "\n" + commands;
  mode_ = std::exchange(acts_wanted_, false) && !acts_.empty() ? Mode::kChoose : Mode::kWhy;
}

std::vector<Top::Row> Top::Shown() const {
  std::vector<Row> shown;
  for (const Row& row : rows_) {
    const bool fits = filter_.empty() || std::ranges::any_of(row.cells, [&](const auto& cell) {
                        return cell.find(filter_) != std::string::npos;
                      });
    if (fits) shown.push_back(row);
  }
  if (sorted_by_ > 0)
    std::ranges::stable_sort(shown, [by = sorted_by_ - 1](const Row& one, const Row& other) {
      return ComesFirst(one.cells[by], other.cells[by]);
    });
  return shown;
}

std::size_t Top::SelectedIndex(const std::vector<Row>& shown) const {
  const auto found = std::ranges::find(shown, selected_, &Row::id);
  return found == shown.end() ? 0 : static_cast<std::size_t>(found - shown.begin());
}

void Top::Move(std::ptrdiff_t by) {
  const std::vector<Row> shown = Shown();
  if (shown.empty()) return;
  const auto last = static_cast<std::ptrdiff_t>(shown.size()) - 1;
  const auto to = static_cast<std::ptrdiff_t>(SelectedIndex(shown)) + by;
  selected_ = shown[static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(to, 0, last))].id;
}

void Top::AskWhy(bool to_act) {
  const std::vector<Row> shown = Shown();
  const View& view = views_[view_];
  if (shown.empty()) return;
  const Row& row = shown[SelectedIndex(shown)];
  selected_ = row.id;
  if (view.kind.empty()) {
    why_.clear();
    for (std::size_t i = 0; i < view.columns.size(); ++i)
      why_ += fmt::format("{}: {}\n", view.columns[i].heading, row.cells[i]);
    mode_ = Mode::kWhy;
    return;
  }
  acts_wanted_ = to_act;
  wanted_ = TopAsk{.purpose = TopAsk::For::kWhy,
                   .path = fmt::format("/api/v1/why/{}/{}", view.kind, PercentEncoded(row.id)),
                   .view = view_};
}

void Top::Key(std::string_view key) {
  switch (mode_) {
    case Mode::kRows:
      return KeyInRows(key);
    case Mode::kChoose:
      return Choose(key);
    case Mode::kFilter:
    case Mode::kReason:
    case Mode::kName:
      return KeyInText(key);
    case Mode::kWhy:
      mode_ = key == "a" && !acts_.empty() ? Mode::kChoose : Mode::kRows;
      return;
    case Mode::kHelp:
      mode_ = Mode::kRows;
      return;
  }
}

void Top::KeyInRows(std::string_view key) {
  constexpr std::ptrdiff_t kPage = 10;
  note_.clear();
  if (key.size() == 1 && key.front() >= '1' && key.front() <= '9')
    Show(static_cast<std::size_t>(key.front() - '1'));
  else if (key == "q")
    is_over_ = true;
  else if (key == "up" || key == "k")
    Move(-1);
  else if (key == "down" || key == "j")
    Move(1);
  else if (key == "page up")
    Move(-kPage);
  else if (key == "page down")
    Move(kPage);
  else if (key == "enter" || key == "a")
    AskWhy(key == "a");
  else if (key == "s")
    sorted_by_ = (sorted_by_ + 1) % (views_[view_].columns.size() + 1);
  else if (key == "p")
    is_paused_ = !is_paused_;
  else if (key == "?")
    mode_ = Mode::kHelp;
  else if (key == "escape")
    filter_.clear();
  else if (key == "/")
    mode_ = Mode::kFilter, typed_ = filter_;
}

void Top::Choose(std::string_view key) {
  const std::size_t number = key.size() == 1 ? static_cast<std::size_t>(key.front() - '0') : 0;
  if (number < 1 || number > acts_.size()) {
    mode_ = Mode::kRows;
    return;
  }
  chosen_ = acts_[number - 1];
  typed_.clear();
  mode_ = Mode::kReason;
}

void Top::KeyInText(std::string_view key) {
  if (key == "escape") {
    mode_ = Mode::kRows;
    chosen_.reset();
  } else if (key == "enter") {
    EndText();
  } else if (key == "backspace") {
    while (!typed_.empty()) {
      const auto byte = static_cast<unsigned char>(typed_.back());
      typed_.pop_back();
      if ((byte & 0xC0U) != 0x80U) break;
    }
  } else if (key.size() <= 4 && typed_.size() + key.size() <= kMostTyped) {
    typed_ += key;
  }
}

void Top::EndText() {
  if (mode_ == Mode::kFilter) {
    filter_ = typed_;
    mode_ = Mode::kRows;
  } else if (mode_ == Mode::kReason) {
    if (typed_.empty()) return;  // it stands in the audit: there must be one
    reason_ = std::exchange(typed_, {});
    const bool asks = chosen_->is_danger || !name_to_type_.empty();
    mode_ = asks ? Mode::kName : Mode::kRows;
    if (!asks) DoAct();
  } else {
    const std::string& wanted = name_to_type_.empty() ? selected_ : name_to_type_;
    mode_ = Mode::kRows;
    if (std::exchange(typed_, {}) == wanted)
      DoAct();
    else
      note_ = "that is not its name: nothing happened";
  }
}

void Top::DoAct() {
  TopAsk ask{.purpose = TopAsk::For::kAct,
             .method = chosen_->method,
             .path = chosen_->path,
             .view = view_};
  if (chosen_->method == http::Method::kDelete)
    ask.path += (ask.path.find('?') == std::string::npos ? "?reason=" : "&reason=") +
                PercentEncoded(reason_);
  else
    ask.body = WithReason(chosen_->path, chosen_->body, reason_);
  note_ = chosen_->title + " …";
  wanted_ = std::move(ask);
  chosen_.reset();
}

std::vector<std::string> Top::TableLines(const Screen& screen, std::size_t above) const {
  const std::vector<Row> shown = Shown();
  selected_line_.reset();
  if (shown.empty()) {
    if (!is_loaded_) return {"…"};
    return {filter_.empty() ? "nothing" : fmt::format("nothing with \"{}\"", filter_)};
  }
  const View& view = views_[view_];
  const std::size_t room = screen.rows > above + 3 ? screen.rows - above - 3 : 1;
  const std::size_t at = SelectedIndex(shown);
  const std::size_t first = at < room ? 0 : at - room + 1;
  std::vector<TextTable::Column> headings;
  for (std::size_t i = 0; i < view.columns.size(); ++i)
    headings.push_back(
        {fmt::format("{}{}", view.columns[i].heading, i + 1 == sorted_by_ ? " *" : ""),
         view.columns[i].width});
  TextTable table(std::move(headings));
  for (std::size_t i = first; i < shown.size() && i < first + room; ++i) table.Add(shown[i].cells);
  selected_line_ = above + 1 + at - first;
  return LinesOf(table.Text());
}

std::vector<std::string> Top::Frame(std::size_t columns) const {
  const Screen all{.columns = columns, .rows = rows_.size() + LinesOf(head_).size() + 10};
  std::vector<std::string> lines = LinesOf(head_);
  const std::vector<std::string> table = TableLines(all, lines.size());
  lines.insert(lines.end(), table.begin(), table.end());
  return lines;
}

std::string Top::FootLine() const {
  switch (mode_) {
    case Mode::kFilter:
      return "/" + config::Printable(typed_);
    case Mode::kChoose:
      return "which one? (a number; any other key: none)";
    case Mode::kReason:
      return fmt::format("{}. Why? {}", chosen_->title, config::Printable(typed_));
    case Mode::kName:
      return fmt::format("type {} to do it: {}",
                         config::Printable(name_to_type_.empty() ? selected_ : name_to_type_),
                         config::Printable(typed_));
    default:
      return !note_.empty() ? note_
                            : "enter why   a act   s sort   / filter   p pause   ? help   q end";
  }
}

std::vector<std::string> Top::Lines(const Screen& screen) const {
  std::string titles = "tenure " + where_ + "  ";
  for (std::size_t i = 0; i < views_.size(); ++i)
    titles += fmt::format("{}{} {}{}", i == view_ ? "[" : " ", i + 1, views_[i].title,
                          i == view_ ? "]" : " ");
  if (is_paused_) titles += " paused";
  std::vector<std::string> lines{titles};
  for (const std::string& line : LinesOf(head_)) lines.push_back(line);
  if (!trouble_.empty()) lines.push_back(trouble_);
  selected_line_.reset();
  std::vector<std::string> body;
  if (mode_ == Mode::kHelp)
    body = LinesOf(std::string(kHelp));
  else if (mode_ == Mode::kWhy || mode_ == Mode::kChoose)
    body = Wrapped(why_, std::max<std::size_t>(screen.columns, 20));
  else
    body = TableLines(screen, lines.size());
  lines.insert(lines.end(), body.begin(), body.end());
  if (screen.rows > 1 && lines.size() > screen.rows - 1) lines.resize(screen.rows - 1);
  while (screen.rows > 1 && lines.size() + 1 < screen.rows) lines.emplace_back();
  lines.push_back(FootLine());
  if (lines.size() > screen.rows) lines.resize(screen.rows);
  return lines;
}

}  // namespace tenure::cli
