#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tenure::cli {

/// A server that is asked often, under a name. It never holds a token, only where one comes from.
struct Context {
  std::string name{};
  std::string server{};
  std::string ca_file{};
  std::string token_file{};
  std::string token_command{};  ///< of the shell; prints the token
  bool is_protected = false;    ///< an act wants its name typed, or --yes
};

/// The contexts of this user: $XDG_CONFIG_HOME/tenure/contexts.yaml, else below ~/.config. Who can
/// write the file chooses commands that run here, and who can read it learns where tokens are: it
/// belongs to this user alone.
class Contexts {
 public:
  /// Empty when neither variable says where.
  static std::string Path();

  /// None when there is no file. Throws UsageError for one that others can read (with the chmod to
  /// run), that is another user's, or that cannot be understood (with the line).
  static Contexts Read();
  /// In one piece, readable by this user only. Throws base::UserError when it cannot be written.
  void Write() const;

  const std::vector<Context>& all() const { return all_; }
  const std::string& current() const { return current_; }  ///< empty: none
  /// Null when there is none of that name.
  const Context* Find(std::string_view name) const;
  /// Throws UsageError, with the name that was meant.
  const Context& Get(std::string_view name) const;

  /// The first one becomes the current one. REQUIRES: there is none of that name.
  void Add(Context context);
  void Remove(std::string_view name);
  /// REQUIRES: there is one of that name.
  void Use(std::string_view name) { current_ = name; }

 private:
  std::vector<Context> all_;
  std::string current_;
};

/// What the command of a context prints: one token. Throws UsageError when it fails or prints
/// something else.
std::string TokenOfCommand(const Context& context);

/// `text` when it is a token: one line of visible characters, with or without "Bearer " in front.
/// Throws base::UserError.
std::string CheckedToken(std::string text);

}  // namespace tenure::cli
