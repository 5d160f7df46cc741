#pragma once

#include <chrono>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include "net/process/process.hpp"
#include "net/testing/test_run.hpp"

// For tests of child processes.
namespace proteus::net::test {

inline bool is_running(pid_t pid) {
  std::ifstream stat(fmt::format("/proc/{}/stat", pid));
  std::string ignored;
  std::string state;
  stat >> ignored >> ignored >> state;
  return stat && state != "Z" && state != "X";
}

inline constexpr Grace kNoGrace{.after_end_of_input = {}, .after_sigterm = {}};
inline constexpr Grace kLongGrace{.after_end_of_input = std::chrono::hours(1), .after_sigterm = std::chrono::hours(1)};

class ProcessTest : public testing::Test {
 protected:
  ProcessTest() : descriptors_(open_descriptors()) {}

  // After each test, no child is left to reap and no descriptor is left open.
  void TearDown() override {
    io_ = nullptr;
    EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
    EXPECT_EQ(errno, ECHILD);
    EXPECT_EQ(open_descriptors(), descriptors_);
  }

  Process start(std::vector<std::string> argv, ProcessOptions options = {}) {
    const Command command{.argv = std::move(argv), .environment = child_environment({})};
    auto process = Process::spawn(*io_, command, std::move(options));
    if (!process) throw std::runtime_error(process.error().message());
    return std::move(*process);
  }
  Process shell(std::string script, ProcessOptions options = {}) {
    return start({"sh", "-c", std::move(script)}, std::move(options));
  }

  std::string read(Process& process) {
    const auto line = run(*io_, process.read_line());
    if (!line) return "error: " + line.error().message();
    return *line ? std::string(**line) : "(end)";
  }
  Result<> write(Process& process, std::string_view text) { return run(*io_, process.write(std::span(&text, 1))); }
  ExitStatus terminate(Process& process, Grace grace) { return run(*io_, process.terminate(grace)); }

  std::size_t descriptors_;  // counted before the io_context opens its own
  std::unique_ptr<boost::asio::io_context> io_ = std::make_unique<boost::asio::io_context>(1);
};

}  // namespace proteus::net::test
