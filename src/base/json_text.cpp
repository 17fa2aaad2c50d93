#include "base/json_text.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/byte_set.hpp"
#include "base/utf8.hpp"

namespace tenure::base {
namespace {

constexpr ByteSet kDigits("0123456789");
constexpr ByteSet kHexDigits("0123456789abcdefABCDEF");
constexpr ByteSet kExponent("eE");
constexpr ByteSet kSign("+-");
constexpr ByteSet kEscaped("\"\\/bfnrt");
/// What says nothing but itself in a string: nearly all of it.
constexpr ByteSet kPlain(
    " !#$%&'()*+,-./"
    "0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[]^_`abcdefghijklmnopqrstuvwxyz{|}~");

/// Which of the levels that are open are objects, a bit each; the first 64 of them cost no memory.
class JsonLevels {
 public:
  std::size_t depth() const { return depth_; }
  bool in_object() const {
    return depth_ <= kNear ? (near_ >> (depth_ - 1) & 1U) != 0 : far_.back();
  }
  void Push(bool object) {
    if (depth_ >= kNear)
      far_.push_back(object);
    else
      near_ = (near_ & ~(std::uint64_t{1} << depth_)) | std::uint64_t{object} << depth_;
    ++depth_;
  }
  void Pop() {
    if (depth_ > kNear) far_.pop_back();
    --depth_;
  }

 private:
  static constexpr std::size_t kNear = 64;

  std::size_t depth_ = 0;
  std::uint64_t near_ = 0;
  std::vector<bool> far_;
};

/// Walks over a text from left to right. What takes something says whether it was there.
class JsonWalk {
 public:
  JsonWalk(std::string_view text, std::size_t max_depth) : rest_(text), max_depth_(max_depth) {}

  /// No recursion: how deep a stranger nests is no matter of this thread's stack.
  bool IsOneValue() {
    bool expected = true;  // a value comes next
    do {
      if (expected ? !BeginValue(expected) : !BehindValue(expected)) return false;
    } while (expected || levels_.depth() > 0);
    Space();
    return rest_.empty();
  }

 private:
  void Space() { rest_.remove_prefix(kJsonSpace.FirstOther(rest_)); }
  bool Take(char c) {
    const bool there = !rest_.empty() && rest_.front() == c;
    if (there) rest_.remove_prefix(1);
    return there;
  }
  bool TakeAny(const ByteSet& any_of) {
    const bool there = !rest_.empty() && any_of.Has(rest_.front());
    if (there) rest_.remove_prefix(1);
    return there;
  }
  bool Word(std::string_view word) {
    const bool there = rest_.starts_with(word);
    if (there) rest_.remove_prefix(word.size());
    return there;
  }

  /// Takes a value, or the bracket that opens one: then `expected` stays true, for the value that
  /// must come first inside, unless nothing is inside.
  bool BeginValue(bool& expected) {
    Space();
    expected = false;
    if (rest_.empty()) return false;
    switch (rest_.front()) {
      case '{':
      case '[':
        return Open(expected);
      case '"':
        return String();
      case 't':
        return Word("true");
      case 'f':
        return Word("false");
      case 'n':
        return Word("null");
      default:
        return Number();
    }
  }

  bool Open(bool& expected) {
    const bool object = rest_.front() == '{';
    if (levels_.depth() == max_depth_) return false;
    rest_.remove_prefix(1);
    Space();
    if (Take(object ? '}' : ']')) return true;
    levels_.Push(object);
    expected = true;
    return !object || Name();
  }

  /// Behind a value that is complete: its comma, or the bracket that closes what it is in.
  bool BehindValue(bool& expected) {
    Space();
    const bool object = levels_.in_object();
    if (Take(',')) {
      expected = true;
      return !object || Name();
    }
    if (!Take(object ? '}' : ']')) return false;
    levels_.Pop();
    return true;
  }

  bool Name() {
    Space();
    return String() && (Space(), Take(':'));
  }

  bool String() {
    if (!Take('"')) return false;
    while (!rest_.empty()) {
      rest_.remove_prefix(kPlain.FirstOther(rest_));
      if (rest_.empty()) return false;
      const auto c = static_cast<std::uint8_t>(rest_.front());
      if (c < 0x20) return false;
      if (c >= 0x80) {
        const std::string_view character = FrontCharacter(rest_);
        if (character.empty()) return false;
        rest_.remove_prefix(character.size());
        continue;
      }
      rest_.remove_prefix(1);
      if (c == '"') return true;
      if (c == '\\' && !Escape()) return false;
    }
    return false;
  }
  bool Escape() {
    if (!Take('u')) return TakeAny(kEscaped);
    for (int i = 0; i < 4; ++i)
      if (!TakeAny(kHexDigits)) return false;
    return true;
  }

  bool Digits() {
    const std::size_t count = kDigits.FirstOther(rest_);
    rest_.remove_prefix(count);
    return count > 0;
  }
  bool Number() {
    Take('-');
    if (!Take('0') && !Digits()) return false;
    if (Take('.') && !Digits()) return false;
    if (!TakeAny(kExponent)) return true;
    TakeAny(kSign);
    return Digits();
  }

  std::string_view rest_;
  const std::size_t max_depth_;
  JsonLevels levels_;
};

}  // namespace

bool IsJson(std::string_view text, std::size_t max_depth) {
  return JsonWalk(text, max_depth).IsOneValue();
}

std::string_view ObjectOrEmpty(std::string_view text) {
  const bool is_object = text.substr(kJsonSpace.FirstOther(text)).starts_with('{') && IsJson(text);
  return is_object ? text : std::string_view("{}");
}

}  // namespace tenure::base
