#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/error.hpp"

namespace tenure::db {

/// The keys of a batch: each once, ascending. That is the order in which they are locked, so two
/// batches that lock the same keys cannot deadlock.
template <class Key>
class UniqueKeys {
 public:
  UniqueKeys() = default;
  explicit UniqueKeys(std::vector<Key> keys) : keys_(std::move(keys)) {
    std::sort(keys_.begin(), keys_.end());
    keys_.erase(std::unique(keys_.begin(), keys_.end()), keys_.end());
  }

  std::size_t size() const { return keys_.size(); }
  bool empty() const { return keys_.empty(); }
  const Key& operator[](std::size_t index) const { return keys_[index]; }
  auto begin() const { return keys_.begin(); }
  auto end() const { return keys_.end(); }

  /// REQUIRES: it is one of them.
  std::size_t IndexOf(const Key& key) const {
    const auto found = std::lower_bound(keys_.begin(), keys_.end(), key);
    TENURE_CHECK(found != keys_.end() && *found == key, "a key that is not of this batch");
    return static_cast<std::size_t>(found - keys_.begin());
  }

 private:
  std::vector<Key> keys_;
};

/// What the items of a batch ask for, in order of arrival.
template <class Items>
auto Requests(Items items) {
  std::vector<const std::remove_cvref_t<decltype(items.front()->request)>*> requests;
  requests.reserve(items.size());
  for (const auto* item : items) requests.push_back(&item->request);
  return requests;
}

/// The keys of the items of a batch; `key` is a member of their requests, or a function of them.
template <class Items, class Member>
auto KeysOf(Items items, Member key) {
  using Request = std::remove_cvref_t<decltype(items.front()->request)>;
  std::vector<std::remove_cvref_t<std::invoke_result_t<Member, const Request&>>> keys;
  keys.reserve(items.size());
  for (const auto* item : items) keys.push_back(std::invoke(key, item->request));
  return UniqueKeys(std::move(keys));
}

}  // namespace tenure::db
