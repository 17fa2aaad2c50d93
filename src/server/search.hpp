#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/caller.hpp"
#include "base/task.hpp"
#include "base/uuid.hpp"
#include "db/operation.hpp"

namespace tenure::server {

/// What somebody looks for.
struct Search {
  std::string tenant{};
  /// Without authentication sessions of every tenant are seen, as everywhere.
  bool every_tenant = false;
  std::string text{};
  std::optional<base::Uuid> id{};  ///< the text, when it is one

  /// Whether the text may be the beginning of a name. One character would find half of everything.
  bool MayBegin() const { return text.size() >= 2; }
};

struct Found {
  std::string_view kind{};  ///< as in /api/v1/why/{kind}
  std::string id{};
  std::string title{};
  std::string state{};
};
using FoundList = std::vector<Found>;
/// So many of a kind at most.
inline constexpr std::int64_t kMostFound = 10;

/// One kind of things that can be found: whole ids, beginnings of names. By index only, and never
/// more than kMostFound.
struct Finder {
  using Done = base::UniqueFunction<db::Result<FoundList>>;

  std::string_view scope{};  ///< that reads them
  std::function<void(const Search& search, base::Caller caller, Done done)> find{};
};

/// The callback of a look, of whose reply `list` makes what was found.
template <class List>
auto Finding(Finder::Done done, List list) {
  return [done = std::move(done), list = std::move(list)](auto result) mutable {
    if (!result.ok()) return done(result.fault());
    FoundList found = list(result.value());
    if (found.size() > static_cast<std::size_t>(kMostFound)) found.resize(kMostFound);
    done(std::move(found));
  };
}

/// Where a list of ASCII names that is read behind a name begins, so that it begins with `prefix`: no
/// name of letters, digits and ". _ : / @ -" lies between the two.
/// REQUIRES: the prefix is made of those.
inline std::string JustBefore(std::string_view prefix) {
  std::string before(prefix);
  before.back() = static_cast<char>(before.back() - 1);
  return before + '~';
}

}  // namespace tenure::server
