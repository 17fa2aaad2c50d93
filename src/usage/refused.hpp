#pragma once

#include <string>
#include <vector>

#include "db/operation.hpp"
#include "usage/window.hpp"

namespace tenure::usage {

/// A record that the receiver refuses, and with which words. Its message is a dead letter.
struct Refused {
  ChunkName name{};
  base::Uuid session{};
  std::int64_t refused_ms = 0;
  std::string answer{};
};
struct RefusedRequest {
  ChunkName after{};  ///< the last one of the page before
  std::int64_t limit = 100;
};
struct RefusedReply {
  std::vector<Refused> refused{};  ///< by window, then by chunk
  bool has_more = false;
};

class RefusedHandler final : public db::TypedHandler<RefusedRequest, RefusedReply> {
 public:
  std::string_view name() const override { return "usage.refused"; }
  bool reads() const override { return true; }

 protected:
  void ReadItems(db::Transaction& tx, Items items) override;
};

}  // namespace tenure::usage
