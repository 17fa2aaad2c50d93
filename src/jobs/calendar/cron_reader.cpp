// How a cron expression is read: field by field, item by item, each mistake with its place.

#include <algorithm>
#include <array>
#include <cctype>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "jobs/calendar/cron.hpp"

namespace tenure::jobs::calendar {
namespace {

constexpr std::size_t kLongest = 255;

constexpr std::array<std::string_view, 12> kMonths{"JAN", "FEB", "MAR", "APR", "MAY", "JUN",
                                                   "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"};
constexpr std::array<std::string_view, 7> kWeekdays{"SUN", "MON", "TUE", "WED",
                                                    "THU", "FRI", "SAT"};

struct FieldKind {
  std::string_view what;  ///< follows "expected "
  int least;
  int most;
  int cycle;  ///< how many values there are before it begins again
  std::span<const std::string_view> names;
};

constexpr FieldKind kSecond{"a second from 0 to 59", 0, 59, 60, {}};
constexpr FieldKind kMinute{"a minute from 0 to 59", 0, 59, 60, {}};
constexpr FieldKind kHour{"an hour from 0 to 23", 0, 23, 24, {}};
constexpr FieldKind kDay{"a day from 1 to 31", 1, 31, 31, {}};
constexpr FieldKind kMonth{"a month from 1 to 12 or JAN to DEC", 1, 12, 12, kMonths};
constexpr FieldKind kWeekday{"a weekday from 0 to 7 or SUN to SAT", 0, 7, 7, kWeekdays};

struct Nickname {
  std::string_view name;
  std::string_view fields;
};
constexpr std::array<Nickname, 7> kNicknames{{{"@yearly", "0 0 1 1 *"},
                                              {"@annually", "0 0 1 1 *"},
                                              {"@monthly", "0 0 1 * *"},
                                              {"@weekly", "0 0 * * 0"},
                                              {"@daily", "0 0 * * *"},
                                              {"@midnight", "0 0 * * *"},
                                              {"@hourly", "0 * * * *"}}};

char Upper(char c) { return static_cast<char>(std::toupper(static_cast<unsigned char>(c))); }

bool SameWord(std::string_view left, std::string_view right) {
  return std::ranges::equal(left, right, [](char a, char b) { return Upper(a) == Upper(b); });
}

struct FieldText {
  std::size_t at;
  std::string_view text;

  std::size_t end() const { return at + text.size(); }
};

std::vector<FieldText> Split(std::string_view text) {
  std::vector<FieldText> fields;
  std::size_t at = 0;
  while ((at = text.find_first_not_of(" \t", at)) != std::string_view::npos) {
    const std::size_t end = std::min(text.find_first_of(" \t", at), text.size());
    fields.push_back({at, text.substr(at, end - at)});
    at = end;
  }
  return fields;
}

}  // namespace

/// Reads one expression. A mistake is thrown as its Problem and caught by Cron::Parse: an item is
/// read four calls deep, and none of them has anything to add.
class CronReader {
 public:
  explicit CronReader(std::string_view text) : text_(text) {}

  Cron Read() {
    if (text_.size() > kLongest)
      Fail(kLongest, fmt::format("expected at most {} characters", kLongest));
    const std::vector<FieldText> fields = Split(text_);
    if (!fields.empty() && fields[0].text[0] == '@') return ReadNickname(fields);
    if (fields.size() < 5)
      Fail(text_.size(), fmt::format("expected 5 or 6 fields, there are {}", fields.size()));
    if (fields.size() > 6) Fail(fields[6].at, "expected the end after 6 fields");
    return ReadFields(fields);
  }

 private:
  [[noreturn]] static void Fail(std::size_t position, std::string message) {
    throw Problem{position, std::move(message)};
  }

  Cron ReadNickname(const std::vector<FieldText>& fields) {
    for (const Nickname& nickname : kNicknames)
      if (SameWord(fields[0].text, nickname.name)) {
        if (fields.size() > 1) Fail(fields[1].at, "expected nothing after it");
        return CronReader(nickname.fields).Read();
      }
    Fail(fields[0].at,
         "expected @yearly, @annually, @monthly, @weekly, @daily, @midnight, @hourly or @every");
  }

  Cron ReadFields(const std::vector<FieldText>& fields) {
    const std::size_t skip = fields.size() == 6 ? 1 : 0;
    if (skip) cron_.seconds_ = ReadPlain(fields[0], kSecond).values;
    const Plain minutes = ReadPlain(fields[skip], kMinute);
    const Plain hours = ReadPlain(fields[skip + 1], kHour);
    cron_.minutes_ = minutes.values;
    cron_.hours_ = static_cast<std::uint32_t>(hours.values);
    cron_.interval_ = minutes.distance || hours.distance;
    ReadDays(fields[skip + 2]);
    cron_.months_ = static_cast<std::uint16_t>(ReadPlain(fields[skip + 3], kMonth).values);
    ReadWeekdays(fields[skip + 4]);
    if (!cron_.CanHappen()) Fail(fields[skip + 2].at, "expected a day that one of the months has");
    return cron_;
  }

  struct Plain {
    std::uint64_t values = 0;
    bool distance = false;  ///< has a `*` or a step
  };

  Plain ReadPlain(const FieldText& field, const FieldKind& kind) {
    Plain plain;
    Begin(field);
    do {
      AddItem(kind, plain);
    } while (NextItem(kind));
    return plain;
  }

  void ReadDays(const FieldText& field) {
    CronDays& days = cron_.days_;
    days.every_day = field.text == "*" || field.text == "?";
    if (days.every_day) return;
    Begin(field);
    do {
      if (Take('L')) {
        if (Take('W'))
          days.last_weekday = true;
        else if (Take('-'))
          days.before_last |= 1u << Number(1, 30, "a number of days from 1 to 30");
        else
          days.before_last |= 1;
        continue;
      }
      const std::size_t item = at_;
      Plain plain;
      const bool single = AddItem(kDay, plain);
      if (Peek() == 'W') {
        if (!single) Fail(item, "expected a single day before W");
        ++at_;
        days.nearest |= static_cast<std::uint32_t>(plain.values);
      } else {
        days.days |= static_cast<std::uint32_t>(plain.values);
      }
    } while (NextItem(kDay));
  }

  void ReadWeekdays(const FieldText& field) {
    CronDays& days = cron_.days_;
    days.every_weekday = field.text == "*" || field.text == "?";
    if (days.every_weekday) return;
    Begin(field);
    do {
      const std::size_t item = at_;
      if (Peek() == 'L') Fail(item, "expected a weekday before L, as in 5L or FRIL");
      Plain plain;
      const bool single = AddItem(kWeekday, plain);
      const auto which = static_cast<std::uint8_t>(plain.values);
      if (Peek() == 'L' || Peek() == '#') {
        if (!single) Fail(item, fmt::format("expected a single weekday before {}", text_[at_]));
        if (Take('L')) {
          days.last_of |= which;
        } else {
          ++at_;
          const int nth = Number(1, 5, "a number from 1 to 5");
          auto& week = days.nth[static_cast<std::size_t>(nth - 1)];
          week = static_cast<std::uint8_t>(week | which);
        }
      } else {
        days.weekdays |= which;
      }
    } while (NextItem(kWeekday));
  }

  // The pieces: `at_` is where reading is, `end_` where the field ends.

  void Begin(const FieldText& field) {
    at_ = field.at;
    end_ = field.end();
  }

  /// The next character of the field as a capital; 0 at its end.
  char Peek() const { return at_ < end_ ? Upper(text_[at_]) : '\0'; }

  bool Take(char c) {
    if (Peek() != c) return false;
    ++at_;
    return true;
  }

  /// After an item: true when another one follows, false at the end of the field.
  bool NextItem(const FieldKind& kind) {
    if (at_ == end_) return false;
    if (!Take(',')) Fail(at_, "expected a comma or the end of the field");
    if (at_ == end_) Fail(at_, fmt::format("expected {}", kind.what));
    return true;
  }

  int Number(int least, int most, std::string_view what) {
    const std::size_t begin = at_;
    int number = 0;
    while (at_ < end_ && text_[at_] >= '0' && text_[at_] <= '9' && at_ - begin < 4)
      number = number * 10 + (text_[at_++] - '0');
    if (at_ == begin || number < least || number > most)
      Fail(begin, fmt::format("expected {}", what));
    return number;
  }

  int Value(const FieldKind& kind) {
    for (std::size_t i = 0; i < kind.names.size(); ++i)
      if (SameWord(text_.substr(at_, std::min<std::size_t>(3, end_ - at_)), kind.names[i])) {
        at_ += 3;
        return static_cast<int>(i) + kind.least;
      }
    return Number(kind.least, kind.most, kind.what);
  }

  /// Adds `*`, a value or a range, each perhaps with a step. Says whether it is one value alone.
  bool AddItem(const FieldKind& kind, Plain& plain) {
    const std::size_t begin = at_;
    int first = kind.least;
    int last = kind.most;
    bool single = false;
    if (Take('*')) {
      plain.distance = true;
    } else {
      first = last = Value(kind);
      single = true;
      if (Take('-')) {
        last = Value(kind);
        single = false;
      }
    }
    int step = 1;
    if (Take('/')) {
      const int largest = kind.cycle - (kind.least == 0 && kind.cycle > 7 ? 1 : 0);
      step = Number(1, largest, fmt::format("a step from 1 to {}", largest));
      plain.distance = true;
      if (single) last = kind.most;
      single = false;
    }
    if (first > last) last += kind.cycle;  // over the end: FRI-MON, 22-2
    if (begin == at_) Fail(begin, fmt::format("expected {}", kind.what));
    for (int value = first; value <= last; value += step)
      plain.values |= std::uint64_t{1} << ((value - kind.least) % kind.cycle + kind.least);
    return single;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t end_ = 0;
  Cron cron_;
};

std::variant<Cron, Problem> Cron::Parse(std::string_view text) {
  try {
    return CronReader(text).Read();
  } catch (const Problem& problem) {
    return problem;
  }
}

}  // namespace tenure::jobs::calendar
