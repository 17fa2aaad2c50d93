#pragma once

#include <cstdlib>
#include <map>
#include <string>

#include <fmt/format.h>

namespace bench {

[[noreturn]] inline void Die(const std::string& message) {
  fmt::print(stderr, "{}\n", message);
  std::exit(1);
}

/// `--name value` pairs, as bench/harness writes them.
class Options {
 public:
  Options(int count, char** words) {
    for (int i = 0; i < count; i += 2) {
      if (i + 1 == count) Die(fmt::format("{} lacks a value", words[i]));
      values_[std::string(words[i]).substr(2)] = words[i + 1];
    }
  }

  std::string Text(const std::string& name) const {
    const auto found = values_.find(name);
    if (found == values_.end()) Die(fmt::format("--{} is missing", name));
    return found->second;
  }
  std::string Text(const std::string& name, const std::string& otherwise) const {
    return values_.contains(name) ? Text(name) : otherwise;
  }
  std::uint64_t Number(const std::string& name) const { return std::stoull(Text(name)); }
  std::uint64_t Number(const std::string& name, std::uint64_t otherwise) const {
    return values_.contains(name) ? Number(name) : otherwise;
  }

 private:
  std::map<std::string, std::string> values_;
};

}  // namespace bench
