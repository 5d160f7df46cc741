// Implements the subcommands of `proteus dataset`.
#include <algorithm>
#include <cstdio>
#include <optional>

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include "app/commands/command_output.hpp"
#include "app/commands/dataset_command.hpp"
#include "app/commands/terminal.hpp"
#include "app/serving/pepper_in_use.hpp"
#include "base/settings/environment.hpp"
#include "datasets/mapping/mapping_directory.hpp"
#include "datasets/propose/propose.hpp"
#include "datasets/propose/review.hpp"

namespace proteus::app {
namespace {

using boost::json::array;
using boost::json::object;
using datasets::Problem;
using datasets::Problems;

ExitCode fail(const DatasetOptions& options, const Error& error, ExitCode code = ExitCode::problems) {
  if (options.json) fmt::print("{}\n", boost::json::serialize(object{{"ok", false}, {"error", error.message()}}));
  fmt::print(stderr, "proteus: {}\n", one_line(error.message()));
  return code;
}

array write(const Problems& problems) {
  array all;
  all.reserve(problems.size());
  for (const auto& problem : problems)
    all.push_back(datasets::write_problem(problem));
  return all;
}

void print(std::string_view file, const Problems& problems) {
  const Terminal terminal = Terminal::of(STDERR_FILENO);
  for (const Problem& problem : problems) {
    const Style style = problem.refuses() ? Style::red : Style::yellow;
    fmt::print(stderr, "{}\n", terminal.styled(style, one_line(datasets::show(file, problem))));
  }
}

Result<Config> config_of(const DatasetOptions& options) {
  auto config = config_beside(options.config, options.data);
  if (config && !options.mappings.empty()) config->datasets.mappings = options.mappings;
  return config;
}

// Makes a pepper if no gateway has run yet. One that has run with another pepper has left a database.
Result<store::Pepper> find_pepper(const Config& config) {
  auto read = pepper_in_use(config);
  std::error_code ignored;
  if (read || read.error().kind() != ErrorKind::not_found ||
      std::filesystem::exists(config.data_directory / "proteus.db", ignored))
    return read;
  auto directory = store::DataDirectory::open(config.data_directory);
  if (!directory) return std::unexpected(std::move(directory.error()));
  return store::Pepper::read_or_create(*directory);
}

Result<datasets::MappingDirectory> open_directory(const Config& config) {
  const auto pepper = find_pepper(config);
  if (!pepper) return std::unexpected(pepper.error());
  std::optional<std::string_view> previous;
  if (config.secrets.previous_pepper) previous = config.secrets.previous_pepper->reveal();
  return datasets::MappingDirectory(config.datasets.mappings, datasets::Seals(pepper->value(), previous));
}

Result<datasets::Introspection> introspect(const std::string& variable, const std::string& schema) {
  return datasets::introspect(process_environment(), variable, schema, {});
}

// Reads the named ontology, else the one in the directory `beside`, if there is one.
Result<std::optional<datasets::OntologyText>> read_ontology(const std::string& named,
                                                            const std::filesystem::path& beside) {
  std::string file = named.empty() ? (beside / datasets::MappingDirectory::kOntology).string() : named;
  auto text = datasets::read_plain_file(file, datasets::limits::kMappingBytes);
  if (text) return datasets::OntologyText{std::move(file), std::move(*text)};
  if (named.empty() && text.error().kind() == ErrorKind::not_found) return std::nullopt;
  return std::unexpected(std::move(text.error()));
}

struct Checked {
  std::string text;
  std::optional<datasets::Mapping> mapping;
  Problems problems;
};

// Finds everything that is wrong with a mapping. Fails if that cannot be determined.
Result<Checked> check(const DatasetOptions& options, const std::filesystem::path& ontology_beside) {
  auto text = datasets::read_plain_file(options.file, datasets::limits::kMappingBytes);
  if (!text) return std::unexpected(std::move(text.error()));
  const auto ontology = read_ontology(options.ontology, ontology_beside);
  if (!ontology) return std::unexpected(ontology.error());
  auto reviewed = datasets::review(*text, *ontology, process_environment(), {});
  if (!reviewed) return std::unexpected(std::move(reviewed.error()));
  return Checked{std::move(*text), std::move(reviewed->mapping), std::move(reviewed->problems)};
}

std::filesystem::path directory_of(const std::string& file) { return std::filesystem::path(file).parent_path(); }

std::string counted(std::size_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

// Keeps an existing file that differs, unless `force`: somebody may have edited it, and a draft can be made again.
Result<> write_draft(const std::string& file, const std::string& draft, bool force) {
  std::error_code ignored;
  if (!directory_of(file).empty()) std::filesystem::create_directories(directory_of(file), ignored);
  if (!force && std::filesystem::exists(file, ignored)) {
    const auto there = datasets::read_plain_file(file, datasets::limits::kMappingBytes);
    if (there && *there == draft) return {};
    return std::unexpected(errors::conflict(
        fmt::format("{} exists and differs from this draft; write elsewhere, or overwrite it with --force", file)));
  }
  return datasets::write_plain_file(file, draft);
}

}  // namespace

ExitCode propose_dataset(const DatasetOptions& options) {
  if (auto named = datasets::check_dataset_name(options.name); !named)
    return fail(options, std::move(named.error()).within("--name"), ExitCode::usage);
  if (auto named = check_variable_name(options.dsn_env); !named)
    return fail(options, std::move(named.error()).within("--dsn-env"), ExitCode::usage);
  std::optional<datasets::Ontology> ontology;
  if (!options.ontology.empty()) {
    const auto read = read_ontology(options.ontology, {});
    if (!read) return fail(options, read.error(), ExitCode::usage);
    auto parsed = datasets::parse_ontology((*read)->text);
    if (!parsed) {
      print((*read)->file, parsed.error());
      return ExitCode::usage;
    }
    ontology = std::move(*parsed);
  }
  const auto source = introspect(options.dsn_env, options.schema);
  if (!source) return fail(options, source.error());
  const auto proposal =
      datasets::propose({options.name, options.dsn_env, options.schema}, *source, ontology ? &*ontology : nullptr);
  const std::string draft = proposal.draft();
  if (!options.out.empty()) {
    if (auto written = write_draft(options.out, draft, options.force); !written) return fail(options, written.error());
  }
  if (options.json) {
    object out{{"ok", proposal.problems.empty()},
               {"name", options.name},
               {"entities", proposal.mapping.entities.size()},
               {"relationships", proposal.mapping.relationships.size()},
               {"problems", write(proposal.problems)}};
    out.emplace(options.out.empty() ? "draft" : "file", options.out.empty() ? draft : options.out);
    fmt::print("{}\n", boost::json::serialize(out));
  } else {
    if (options.out.empty()) fmt::print("{}", draft);
    print("", proposal.problems);
    fmt::print(stderr, "a draft of {} and {}{}; it has no effect until it is ratified\n",
               counted(proposal.mapping.entities.size(), "entity", "entities"),
               counted(proposal.mapping.relationships.size(), "relationship", "relationships"),
               options.out.empty() ? "" : " in " + one_line(options.out));
  }
  return proposal.problems.empty() ? ExitCode::done : ExitCode::problems;
}

ExitCode validate_dataset(const DatasetOptions& options) {
  const auto checked = check(options, directory_of(options.file));
  if (!checked) return fail(options, checked.error());
  const bool ok = !datasets::any_refuses(checked->problems);
  if (options.json) {
    fmt::print("{}\n", boost::json::serialize(
                           object{{"ok", ok}, {"file", options.file}, {"problems", write(checked->problems)}}));
  } else {
    print(options.file, checked->problems);
    if (ok) fmt::print("{}: fits its source\n", one_line(options.file));
  }
  return ok ? ExitCode::done : ExitCode::problems;
}

ExitCode ratify_dataset(const DatasetOptions& options) {
  if (auto named = datasets::check_who(options.by); !named)
    return fail(options, std::move(named.error()).within("--by"), ExitCode::usage);
  const auto config = config_of(options);
  if (!config) return fail(options, config.error(), ExitCode::usage);
  const auto checked = check(options, config->datasets.mappings);
  if (!checked) return fail(options, checked.error());
  if (datasets::any_refuses(checked->problems)) {
    if (options.json) {
      fmt::print("{}\n", boost::json::serialize(
                             object{{"ok", false}, {"file", options.file}, {"problems", write(checked->problems)}}));
    }
    print(options.file, checked->problems);
    fmt::print(stderr, "not ratified\n");
    return ExitCode::problems;
  }
  const auto directory = open_directory(*config);
  if (!directory) return fail(options, directory.error(), code_of(directory.error()));
  const auto ratified =
      directory->ratify(checked->text, *checked->mapping, options.by, std::chrono::system_clock::now());
  if (!ratified) return fail(options, ratified.error());
  if (options.json) {
    fmt::print("{}\n", boost::json::serialize(object{{"ok", true},
                                                     {"name", checked->mapping->name},
                                                     {"sha256", ratified->sha256},
                                                     {"by", ratified->by},
                                                     {"at", datasets::write_instant(ratified->at)},
                                                     {"problems", write(checked->problems)}}));
  } else {
    print(options.file, checked->problems);
    fmt::print("{} is ratified: {}\n", checked->mapping->name, ratified->sha256);
  }
  return ExitCode::done;
}

ExitCode revoke_dataset(const DatasetOptions& options) {
  if (auto named = datasets::check_dataset_name(options.name); !named)
    return fail(options, std::move(named.error()).within("NAME"), ExitCode::usage);
  if (auto named = datasets::check_who(options.by); !named)
    return fail(options, std::move(named.error()).within("--by"), ExitCode::usage);
  const auto config = config_of(options);
  if (!config) return fail(options, config.error(), ExitCode::usage);
  const auto directory = open_directory(*config);
  if (!directory) return fail(options, directory.error(), code_of(directory.error()));
  const auto revoked = directory->revoke(options.name, options.by, std::chrono::system_clock::now());
  if (!revoked) return fail(options, revoked.error());
  if (options.json) {
    fmt::print(
        "{}\n",
        boost::json::serialize(object{
            {"ok", true}, {"name", options.name}, {"by", revoked->by}, {"at", datasets::write_instant(revoked->at)}}));
  } else {
    fmt::print("{} is no longer ratified; a running gateway disconnects it\n", options.name);
  }
  return ExitCode::done;
}

ExitCode disconnect_dataset(const DatasetOptions& options) {
  if (auto named = datasets::check_dataset_name(options.name); !named)
    return fail(options, std::move(named.error()).within("NAME"), ExitCode::usage);
  const auto client = AdminClient::make(options.target);
  if (!client) {
    return fail(options, client.error(), code_of(client.error()));
  }
  const auto answer = client->ask("POST", fmt::format("/admin/datasets/{}/disconnect", options.name));
  if (!answer) return fail(options, answer.error());
  if (options.json) {
    fmt::print("{}\n", boost::json::serialize(object{{"ok", true}, {"name", options.name}, {"connected", false}}));
  } else {
    fmt::print("{} is disconnected; it stays ratified, so that it can be connected again\n", options.name);
  }
  return ExitCode::done;
}

ExitCode list_datasets(const DatasetOptions& options) {
  const auto config = config_of(options);
  if (!config) return fail(options, config.error(), ExitCode::usage);
  const auto directory = open_directory(*config);
  if (!directory) return fail(options, directory.error(), code_of(directory.error()));
  const auto content = directory->read_whole();
  if (!content) return fail(options, content.error());
  Table table({"NAME", "STATUS", "RATIFIED BY", "AT", "FILE", "NOTE"});
  array all;
  for (const auto& file : content->files) {
    const bool ratified = file.ratified && !file.ratified->revoked;
    const std::string by = ratified ? file.ratified->by : "";
    const std::string at = ratified ? datasets::write_instant(file.ratified->at) : "";
    table.add(
        {file.name, std::string(to_string(file.status)), one_line(by), at, one_line(file.file), one_line(file.reason)});
    object one{{"name", file.name}, {"file", file.file}, {"hash", file.sha256}, {"status", to_string(file.status)}};
    if (ratified) {
      one.emplace("by", by);
      one.emplace("at", at);
    }
    if (!file.reason.empty()) one.emplace("reason", file.reason);
    if (!file.problems.empty()) one.emplace("problems", write(file.problems));
    all.push_back(std::move(one));
  }
  if (options.json) {
    fmt::print("{}\n", boost::json::serialize(object{{"datasets", std::move(all)}}));
  } else if (content->files.empty()) {
    fmt::print("no mappings in {}\n", one_line(config->datasets.mappings));
  } else {
    fmt::print("{}", table.str(Terminal::of(STDOUT_FILENO)));
  }
  for (const auto& fault : content->faults)
    fmt::print(stderr, "{}: {}\n", datasets::MappingDirectory::kRatified, one_line(fault));
  return content->faults.empty() ? ExitCode::done : ExitCode::problems;
}

}  // namespace proteus::app
