#pragma once

#include <filesystem>
#include <string>

#include <proteus/error.hpp>

#include "base/secrets/secret.hpp"
#include "base/settings/environment.hpp"
#include "net/http/url.hpp"

namespace proteus::app {

// The file in which `proteus client` keeps a person's sign-in at one server. Only its owner may read it.
class SignInFile {
 public:
  // Returns the file for a server: in $PROTEUS_SIGN_INS, else in $XDG_CONFIG_HOME/proteus/sign-ins, else in
  // ~/.config/proteus/sign-ins.
  static Result<SignInFile> of(const net::Url& server, const Environment& environment);

  const std::filesystem::path& path() const { return path_; }
  // Returns an empty secret if there is no file. Fails if other users may read the file.
  Result<Secret> load() const;
  Result<> save(const Secret& kept) const;
  // Succeeds if there is no file.
  Result<> remove() const;

 private:
  explicit SignInFile(std::filesystem::path path) : path_(std::move(path)) {}

  std::filesystem::path path_;
};

}  // namespace proteus::app
