#include "base/json_writer.hpp"

#include <charconv>

#include "base/json_text.hpp"
#include "base/time_text.hpp"
#include "base/utf8.hpp"

namespace tenure::base {
namespace {

void AppendEscaped(std::string& out, std::string_view text) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::size_t clean = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c >= 0x20 && c < 0x80 && c != '"' && c != '\\') continue;
    if (c >= 0x80) {
      const std::string_view character = FrontCharacter(text.substr(i));
      if (!character.empty()) {
        i += character.size() - 1;
        continue;
      }
    }
    out.append(text, clean, i - clean);
    clean = i + 1;
    if (c >= 0x80) {  // half a character, as a store may have it
      out += "\\ufffd";
      continue;
    }
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      default:
        out += "\\u00";
        out.push_back(kHex[c >> 4]);
        out.push_back(kHex[c & 0x0F]);
    }
  }
  out.append(text, clean, text.size() - clean);
}

}  // namespace

void JsonWriter::Separate() {
  if (needs_comma_) out_.push_back(',');
  needs_comma_ = true;
}

JsonWriter& JsonWriter::Open(char bracket) {
  Separate();
  out_.push_back(bracket);
  needs_comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::Close(char bracket) {
  out_.push_back(bracket);
  needs_comma_ = true;
  return *this;
}

JsonWriter& JsonWriter::Key(std::string_view key) {
  Separate();
  out_.push_back('"');
  out_.append(key).append("\":", 2);
  needs_comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::Value(std::string_view text) {
  Separate();
  out_.push_back('"');
  AppendEscaped(out_, text);
  out_.push_back('"');
  return *this;
}

JsonWriter& JsonWriter::Value(const Uuid& id) {
  Separate();
  out_.push_back('"');
  id.AppendTo(out_);
  out_.push_back('"');
  return *this;
}

JsonWriter& JsonWriter::Integer(std::int64_t value) {
  Separate();
  char digits[20];
  const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  out_.append(digits, end);
  return *this;
}

JsonWriter& JsonWriter::Time(std::int64_t ms) {
  Separate();
  out_.push_back('"');
  AppendUtc(out_, ms);
  out_.push_back('"');
  return *this;
}

JsonWriter& JsonWriter::Raw(std::string_view json) {
  Separate();
  out_ += json;
  return *this;
}

JsonWriter& JsonWriter::Stored(std::string_view json) {
  return IsJson(json) ? Raw(json) : Value(json);
}

}  // namespace tenure::base
