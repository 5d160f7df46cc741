#pragma once

#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <boost/json/object.hpp>
#include <fmt/format.h>

#include "catalog/definitions/kind.hpp"
#include "gateway/testing/scripted_upstream.hpp"

// For tests: a modern upstream that lists something different to each user, and records what it was asked for.
namespace proteus::gateway::test {

using catalog::Kind;

// Returns the user that a request's `_meta` names; empty if there is none.
inline std::string user_of(const boost::json::object& message) {
  const auto& meta = message.at("params").at("_meta").as_object();
  const auto* user = meta.if_contains("user");
  return user != nullptr ? std::string(user->as_string()) : std::string();
}

class ListingUpstream {
 public:
  using Names = std::set<std::string>;

  // Uses its name as the description of everything.
  explicit ListingUpstream(std::string name, std::size_t page_size = 100)
      : name_(std::move(name)),
        page_size_(page_size),
        upstream_([this](const boost::json::object& message) { return answer(message); }) {}

  std::uint16_t port() const { return upstream_.port(); }
  const std::string& name() const { return name_; }
  std::size_t count(std::string_view method) { return upstream_.received(method).size(); }

  void show(Kind kind, const std::string& user, Names names) {
    const std::scoped_lock lock(mutex_);
    shown_[{kind, user}] = std::move(names);
  }
  Names shown(Kind kind, const std::string& user) {
    const std::scoped_lock lock(mutex_);
    return shown_[{kind, user}];
  }
  // Sets the tools that declare to be read-only, for all users.
  void declare_read_only(Names tools) {
    const std::scoped_lock lock(mutex_);
    read_only_ = std::move(tools);
  }
  // Returns whether a user ever got a list with this entry.
  bool has_listed(Kind kind, const std::string& user, const std::string& name) {
    const std::scoped_lock lock(mutex_);
    return listed_.contains({kind, user, name});
  }
  // While mute, lists fail.
  void set_mute(bool mute) { mute_ = mute; }
  void set_refreshing(bool refreshing) { refreshing_ = refreshing; }

  struct Asked {
    std::string method;
    std::string name;
    std::string user;
  };
  // Returns all requests except lists since the last call.
  std::vector<Asked> take_asked() {
    const std::scoped_lock lock(mutex_);
    return std::exchange(asked_, {});
  }

 private:
  Reaction answer(const boost::json::object& message) {
    const std::string method(message.at("method").as_string());
    const auto& params = message.at("params").as_object();
    const std::string user = user_of(message);
    for (const Kind kind : catalog::kKinds) {
      if (method == mcp::to_string(catalog::info(kind).list_method)) return list(kind, user, params);
    }
    const auto text = [&](std::string_view member) {
      const auto* value = params.if_contains(member);
      return value != nullptr ? std::string(value->as_string()) : std::string();
    };
    const auto& reference = params.contains("ref") ? params.at("ref").as_object() : params;
    const auto* named = reference.if_contains("name");
    if (named == nullptr) named = reference.if_contains("uri");
    {
      const std::scoped_lock lock(mutex_);
      asked_.push_back({method, named != nullptr ? std::string(named->as_string()) : text("uri"), user});
    }
    if (method == "prompts/get")
      return fmt::format(R"({{"resultType":"complete","description":"{}","messages":[]}})", name_);
    if (method == "resources/read") {
      return fmt::format(
          R"({{"resultType":"complete","ttlMs":0,"cacheScope":"private","contents":[{{"uri":"test:x","text":"{}"}}]}})",
          name_);
    }
    if (method == "completion/complete") {
      return fmt::format(R"({{"resultType":"complete","completion":{{"values":["{}"]}}}})", name_);
    }
    const std::string_view meta = refreshing_ ? R"(,"_meta":{"refresh_capabilities":true})" : "";
    return fmt::format(R"({{"resultType":"complete","content":[{{"type":"text","text":"{}"}}]{}}})", name_, meta);
  }

  Reaction list(Kind kind, const std::string& user, const boost::json::object& params) {
    if (mute_) return Reaction::drop();
    const auto* cursor = params.if_contains("cursor");
    const std::size_t from = cursor != nullptr ? std::stoul(std::string(cursor->as_string())) : 0;
    const std::scoped_lock lock(mutex_);
    const Names& names = shown_[{kind, user}];
    std::string entries;
    std::size_t at = 0;
    for (const auto& name : names) {
      if (at >= from && at < from + page_size_) {
        entries += fmt::format(
            R"({}{{"{}":"{}","name":"{}","description":"{}"{}{}}})", entries.empty() ? "" : ",",
            catalog::info(kind).key == "name" ? "title" : catalog::info(kind).key, name, name, name_,
            kind == Kind::tool ? R"(,"inputSchema":{"type":"object"})" : "",
            kind == Kind::tool && read_only_.contains(name) ? R"(,"annotations":{"readOnlyHint":true})" : "");
        listed_.insert({kind, user, name});
      }
      ++at;
    }
    const std::string next = from + page_size_ < at ? fmt::format(R"("nextCursor":"{}",)", from + page_size_) : "";
    return fmt::format(R"({{"resultType":"complete","ttlMs":0,"cacheScope":"private",{}"{}":[{}]}})", next,
                       catalog::info(kind).member, entries);
  }

  const std::string name_;
  const std::size_t page_size_;
  std::mutex mutex_;
  std::map<std::pair<Kind, std::string>, Names> shown_;
  std::set<std::tuple<Kind, std::string, std::string>> listed_;
  std::vector<Asked> asked_;
  Names read_only_;
  std::atomic<bool> mute_ = false;
  std::atomic<bool> refreshing_ = false;
  ScriptedUpstream upstream_;
};

}  // namespace proteus::gateway::test
