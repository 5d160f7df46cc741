#pragma once

#include <filesystem>
#include <string>

#include <proteus/error.hpp>

#include "base/environment.hpp"
#include "base/secret.hpp"
#include "net/http/url.hpp"

namespace proteus::app {

// Where `proteus client` keeps a person's sign-in at one server: a file of its own, which only they may read.
class SignInFile {
 public:
  // In $PROTEUS_SIGN_INS; else in proteus/sign-ins of $XDG_CONFIG_HOME, or of ~/.config.
  static Result<SignInFile> of(const net::Url& server, const Environment& environment);

  const std::filesystem::path& path() const { return path_; }
  // Empty where there is none. Refuses a file that others may read.
  Result<Secret> load() const;
  Result<> save(const Secret& kept) const;
  // True where there was one.
  bool remove() const;

 private:
  explicit SignInFile(std::filesystem::path path) : path_(std::move(path)) {}

  std::filesystem::path path_;
};

}  // namespace proteus::app
