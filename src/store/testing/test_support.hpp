#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <stdlib.h>

#include "base/testing/test_run.hpp"
#include "store/records.hpp"

namespace proteus::store::test {

// A temporary directory, removed with its content at destruction.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string pattern = std::filesystem::temp_directory_path() / "proteus-store-XXXXXX";
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary directory");
    path_ = pattern;
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// Runs calls of a store to their end. `get` throws if the result is an error.
class Runner {
 public:
  template <class T>
  Result<T> run(Task<Result<T>> task) {
    return proteus::test::run(io, std::move(task));
  }
  template <class T>
  T get(Task<Result<T>> task) {
    auto result = run(std::move(task));
    if (!result) throw std::runtime_error(result.error().message());
    if constexpr (!std::is_void_v<T>) return std::move(*result);
  }

  boost::asio::io_context io{1};
};

inline Time at(int second) { return Time(std::chrono::seconds(1'700'000'000 + second) + std::chrono::microseconds(7)); }

inline UpstreamRecord upstream(std::string name) {
  return {.name = name,
          .id = "id-of-" + name,
          .created_at = at(1),
          .updated_at = at(2),
          .settings = R"({"url":"http://127.0.0.1:9000/mcp"})",
          .secrets = R"({"token":"of )" + name + R"("})",
          .origin = Origin::runtime,
          .file_hash = {},
          .secrets_fault = {}};
}

inline SnapshotRecord snapshot(std::string upstream, std::string kind, std::string entries = "[]") {
  return {.upstream = std::move(upstream),
          .kind = std::move(kind),
          .entries = std::move(entries),
          .era = "modern",
          .protocol_version = "2026-07-28",
          .server_facts = R"({"name":"bank"})",
          .taken_at = at(3)};
}

inline ChangeRecord change(std::string upstream, std::string text = R"({"added":["a"]})") {
  return {.number = 0, .at = at(4), .upstream = std::move(upstream), .kind = "tools", .change = std::move(text)};
}

inline AuditRecord audit(std::string what) {
  return {.number = 0, .at = at(5), .who = "ops", .what = std::move(what), .detail = R"({"name":"bank"})"};
}

inline ToolSessionRecord session(std::string id) {
  return {.id = id,
          .user_id = "7",
          .secrets = R"({"user_token":"of )" + id + R"("})",
          .context = "filings",
          .catalog = "shared",
          .created_at = at(1),
          .last_used_at = at(2),
          .secrets_fault = {}};
}

inline SessionToolRecord tool(std::string session, std::string name) {
  return {.session = std::move(session),
          .name = name,
          .definition = R"({"name":")" + name + R"("})",
          .secrets = R"({"url":"http://127.0.0.1/"})",
          .secrets_fault = {}};
}

inline TokenRecord token(std::string name) {
  return {.name = name,
          .access = R"({"upstreams":["bank"]})",
          .secrets = R"({"current":"hash of )" + name + R"("})",
          .created_at = at(1),
          .expires_at = at(100),
          .previous_until = {},
          .last_used_at = at(2),
          .secrets_fault = {}};
}

inline std::string bytes_of_file(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace proteus::store::test
