#include "app/config/load.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>

#include <fmt/format.h>

#include "app/config/secret_file.hpp"
#include "net/io/tls.hpp"

namespace proteus::app {
namespace {

namespace fs = std::filesystem;

constexpr const char* kUsualFile = "proteus.toml";
constexpr std::size_t kMaxContextFiles = 1000;
constexpr std::size_t kMaxContextBytes = std::size_t{32} << 20U;  // of all files together

// Reads at most one piece beyond the size limit of a document; the parser rejects such a text.
Result<std::string> read_file(const fs::path& path) {
  std::error_code status;
  if (fs::is_directory(path, status)) return std::unexpected(errors::invalid("is a directory"));
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::unexpected(errors::not_found(fmt::format("cannot be read: {}", std::strerror(errno))));
  std::string text;
  while (file && text.size() <= TomlDocument::kMaxBytes) {
    constexpr std::size_t kPiece = std::size_t{64} << 10U;
    const std::size_t before = text.size();
    text.resize(before + kPiece);
    file.read(text.data() + before, static_cast<std::streamsize>(kPiece));
    text.resize(before + static_cast<std::size_t>(file.gcount()));
  }
  if (file.bad()) return std::unexpected(errors::invalid("cannot be read to its end"));
  return text;
}

std::optional<std::string> find_file(const ConfigFlags& flags, const Environment& environment) {
  if (flags.file) return flags.file;
  if (auto named = environment("PROTEUS_CONFIG"); named && !named->empty()) return named;
  std::error_code status;
  if (fs::exists(kUsualFile, status)) return kUsualFile;
  return std::nullopt;
}

class Loader {
 public:
  LoadedConfig load(const ConfigFlags& flags, const Environment& environment, Purpose purpose, TlsFiles tls) {
    LoadedConfig loaded;
    loaded.file = find_file(flags, environment);
    if (loaded.file) {
      const fs::path path(*loaded.file);
      const fs::path contexts = path.parent_path() / "contexts";
      loaded.watch = FileWatch({path, contexts});  // made first, to detect edits while the files are read
      if (auto text = read_file(path)) {
        sources_.main = SourceFile{*loaded.file, std::move(*text)};
        read_contexts(contexts);
      } else {
        refuse(Severity::fault, *loaded.file, text.error().message());
      }
    }
    if (tls == TlsFiles::checked) {
      sources_.check_tls = [](const TlsSettings& files) -> Result<> {
        const auto context = net::TlsContext::server(files.certificate, files.key);
        return context ? Result<>{} : std::unexpected(context.error());
      };
    }
    if (purpose == Purpose::check) sources_.now = std::chrono::system_clock::now();
    sources_.read_secret = [&loaded](const std::string& file) {
      loaded.watch.add(file);
      return read_secret_file(file);
    };
    loaded.outcome = read_config(sources_, flags.overrides, environment, purpose);
    auto& diagnostics = loaded.outcome.diagnostics;
    diagnostics.insert(diagnostics.begin(), found_.begin(), found_.end());
    const bool refused = std::ranges::any_of(found_, [](const auto& one) { return one.severity == Severity::fault; });
    if (refused) loaded.outcome.config.reset();
    return loaded;
  }

 private:
  void refuse(Severity severity, std::string file, std::string message) {
    found_.push_back({.severity = severity,
                      .file = std::move(file),
                      .position = {},
                      .path = {},
                      .pointer = {},
                      .message = std::move(message)});
  }

  void read_contexts(const fs::path& directory) {
    std::error_code status;
    std::vector<fs::path> files;
    for (fs::directory_iterator at(directory, status), end; !status && at != end; at.increment(status)) {
      if (at->path().extension() == ".toml") files.push_back(at->path());
      if (files.size() > kMaxContextFiles)
        return refuse(Severity::fault, directory.string(), fmt::format("has more than {} files", kMaxContextFiles));
    }
    if (status && status != std::errc::no_such_file_or_directory)
      return refuse(Severity::fault, directory.string(), "cannot be read: " + status.message());
    std::ranges::sort(files);
    std::size_t bytes = 0;
    for (const fs::path& path : files) {
      auto text = read_file(path);
      if (!text) {
        refuse(Severity::broken_context, path.string(), text.error().message());
        sources_.unreadable_contexts.insert(path.stem().string());
        continue;
      }
      bytes += text->size();
      if (bytes > kMaxContextBytes)
        return refuse(Severity::fault, directory.string(), fmt::format("has more than {} bytes", kMaxContextBytes));
      sources_.contexts.push_back({path.string(), std::move(*text)});
    }
  }

  ConfigSources sources_;
  std::vector<Diagnostic> found_;
};

}  // namespace

ConfigFlags ConfigFlags::of(const std::string& file, const std::string& data, const std::string& listen) {
  ConfigFlags flags;
  if (!file.empty()) flags.file = file;
  if (!data.empty()) flags.overrides.data = data;
  if (!listen.empty()) flags.overrides.listen = listen;
  return flags;
}

LoadedConfig load_config(const ConfigFlags& flags, const Environment& environment, Purpose purpose, TlsFiles tls) {
  return Loader().load(flags, environment, purpose, tls);
}

}  // namespace proteus::app
