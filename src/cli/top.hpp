#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/answer.hpp"
#include "cli/command.hpp"
#include "cli/view.hpp"
#include "http/message.hpp"

namespace tenure::cli {

/// One question of `top` to the server.
struct TopAsk {
  enum class For { kView, kWhy, kAct };
  For purpose = For::kView;
  http::Method method = http::Method::kGet;
  std::string path{};
  std::optional<std::string> body{};
  std::size_t view = 0;  ///< that it was asked for
};

/// `tenure top` without its terminal and its server: what is shown, and what a key does. It knows no
/// time and asks nobody: whoever drives it hands keys and answers over, and draws.
class Top {
 public:
  /// `where`: whom it asks, for the first line. `name_to_type`: what must be typed before an act,
  /// where the context is protected; else empty.
  Top(std::vector<View> views, std::string where, std::string name_to_type);

  /// A key: one character, or "up", "down", "page up", "page down", "enter", "escape", "backspace".
  void Key(std::string_view key);
  /// What a key has asked for, once.
  std::optional<TopAsk> Wanted();
  /// The look that keeps the view up to date; nothing while it is paused.
  std::optional<TopAsk> Look() const;
  void Take(const TopAsk& ask, const Answer& answer);
  /// Nothing answers.
  void Away(std::string_view why);

  bool is_over() const { return is_over_; }
  /// The whole screen, at most as many lines as it has rows.
  std::vector<std::string> Lines(const Screen& screen) const;
  /// Every row of the screen, without what a terminal needs.
  std::vector<std::string> Frame(std::size_t columns) const;
  /// Which of those lines is the selected row.
  std::optional<std::size_t> selected_line() const { return selected_line_; }

 private:
  enum class Mode { kRows, kHelp, kWhy, kFilter, kChoose, kReason, kName };
  struct Row {
    std::string id{};
    std::vector<std::string> cells{};
  };
  struct Act {
    std::string title{};
    std::string path{};
    std::string body{};
    http::Method method = http::Method::kPost;
    bool is_danger = false;
  };

  void Show(std::size_t view);
  void KeyInRows(std::string_view key);
  void KeyInText(std::string_view key);
  void Move(std::ptrdiff_t by);
  void AskWhy(bool to_act);
  void TakeRows(const Answer& answer);
  void TakeWhy(const Answer& answer);
  void Choose(std::string_view key);
  void EndText();
  void DoAct();
  std::vector<Row> Shown() const;
  std::size_t SelectedIndex(const std::vector<Row>& shown) const;
  std::vector<std::string> TableLines(const Screen& screen, std::size_t above) const;
  std::string FootLine() const;

  const std::vector<View> views_;
  const std::string where_;
  const std::string name_to_type_;
  std::size_t view_ = 0;
  Mode mode_ = Mode::kRows;
  bool is_over_ = false;
  bool is_paused_ = false;
  bool is_loaded_ = false;
  std::string trouble_;  // what the last look said instead of rows
  std::string note_;     // what became of an act
  std::string head_;
  std::vector<Row> rows_;
  std::string selected_;       // the row's id
  std::size_t sorted_by_ = 0;  // a column, from 1 on; 0: as they come
  std::string filter_;
  std::string typed_;
  std::string why_;
  bool acts_wanted_ = false;
  std::vector<Act> acts_;
  std::optional<Act> chosen_;
  std::string reason_;
  std::optional<TopAsk> wanted_;
  mutable std::optional<std::size_t> selected_line_;
};

}  // namespace tenure::cli
