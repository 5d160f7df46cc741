#include "gateway/datasets/dataset_workshop.hpp"

#include <algorithm>
#include <utility>

#include <boost/json/object.hpp>
#include <fmt/format.h>

#include "base/log/log.hpp"
#include "gateway/callers/audit_entry.hpp"
#include "json/fault_error.hpp"

namespace proteus::gateway {
namespace {

constexpr std::chrono::seconds kPatience{15};

// Reads the ontology beside the mappings, if there is one. Blocks.
Result<std::optional<datasets::OntologyText>> ontology_of(const datasets::MappingDirectory& directory) {
  auto text = directory.ontology_text();
  if (!text) return std::unexpected(std::move(text.error()));
  if (!*text) return std::nullopt;
  return datasets::OntologyText{std::string(datasets::MappingDirectory::kOntology), std::move(**text)};
}

// To be called when the work begins, which may have waited for its turn.
datasets::Patience patience_from_now(std::shared_ptr<std::atomic<bool>> given_up) {
  return {.until = std::chrono::steady_clock::now() + kPatience, .given_up = std::move(given_up)};
}

Result<> check_variable(const std::vector<std::string>& allowed, std::string_view variable) {
  if (std::ranges::find(allowed, variable) != allowed.end()) return {};
  return std::unexpected(errors::forbidden(
      fmt::format("the admin API may not name the environment variable {}: list it in [datasets] environment, or use "
                  "`proteus dataset` on the machine",
                  log::printable(variable, 100))));
}

Error refused(const datasets::Problems& problems) {
  std::vector<json::Fault> faults;
  for (const auto& problem : problems) {
    if (problem.refuses()) faults.push_back({"", problem.path, datasets::show("", problem)});
  }
  return errors::faults("the mapping", faults);
}

}  // namespace

class DatasetWorkshop::Place {
 public:
  explicit Place(std::atomic<std::size_t>& taken) : taken_(taken), is_free_(taken.fetch_add(1) < kMostWaiting) {}
  ~Place() { taken_.fetch_sub(1); }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

  bool is_free() const { return is_free_; }

 private:
  std::atomic<std::size_t>& taken_;
  const bool is_free_;
};

DatasetWorkshop::DatasetWorkshop(Dependencies dependencies)
    : dependencies_(std::move(dependencies)), variables_(std::make_shared<const std::vector<std::string>>()) {}

DatasetWorkshop::~DatasetWorkshop() { given_up_->store(true); }

void DatasetWorkshop::set_variables(std::vector<std::string> variables) {
  variables_.set(std::make_shared<const std::vector<std::string>>(std::move(variables)));
}

template <class Work>
Task<std::invoke_result_t<Work&>> DatasetWorkshop::run(Work work) {
  const Place place(waiting_);
  if (!place.is_free()) co_return std::unexpected(errors::exhausted("too many wait for a database to be read"));
  co_return co_await thread_.run(std::move(work));
}

Task<Result<>> DatasetWorkshop::note(std::string who, std::string what, std::string_view name,
                                     std::string_view sha256) {
  boost::json::object detail{{"name", name}};
  if (!sha256.empty()) detail.emplace("sha256", sha256);
  const auto noted = co_await dependencies_.store.append(
      audit_entry(dependencies_.clock, std::move(who), std::move(what), detail).record);
  if (!noted) co_return std::unexpected(noted.error());
  co_return Result<>{};
}

Task<Result<datasets::Proposal>> DatasetWorkshop::propose(datasets::ProposalRequest request, std::string who) {
  if (auto named = datasets::check_dataset_name(request.name); !named)
    co_return std::unexpected(std::move(named.error()).within("name"));
  if (auto checked = check_variable(*variables_.get(), request.dsn_env); !checked)
    co_return std::unexpected(std::move(checked.error()));
  if (auto noted = co_await note(std::move(who), "dataset.propose", request.name, ""); !noted)
    co_return std::unexpected(std::move(noted.error()));
  const auto directory = co_await dependencies_.registry.directory();
  co_return co_await run([request = std::move(request), directory, environment = dependencies_.environment,
                          given_up = given_up_]() -> Result<datasets::Proposal> {
    const auto patience = patience_from_now(given_up);
    const auto text = ontology_of(*directory);
    if (!text) return std::unexpected(text.error());
    std::optional<datasets::Ontology> ontology;
    if (*text) {
      auto parsed = datasets::parse_ontology((*text)->text);
      if (!parsed) return std::unexpected(refused(parsed.error()));
      ontology = std::move(*parsed);
    }
    const auto source = datasets::introspect(environment, request.dsn_env, request.schema, patience);
    if (!source) return std::unexpected(source.error());
    return datasets::propose(request, *source, ontology ? &*ontology : nullptr);
  });
}

Task<Result<datasets::Reviewed>> DatasetWorkshop::review(std::string text) {
  const auto directory = co_await dependencies_.registry.directory();
  co_return co_await run([text = std::move(text), directory, allowed = variables_.get(),
                          environment = dependencies_.environment,
                          given_up = given_up_]() -> Result<datasets::Reviewed> {
    const auto patience = patience_from_now(given_up);
    // Checks the variable before any database is opened.
    if (const auto parsed = datasets::parse_mapping(text)) {
      if (auto checked = check_variable(*allowed, parsed->mapping.dsn_env); !checked)
        return std::unexpected(std::move(checked.error()));
    }
    const auto ontology = ontology_of(*directory);
    if (!ontology) return std::unexpected(ontology.error());
    return datasets::review(text, *ontology, environment, patience);
  });
}

Task<Result<DatasetWorkshop::Ratified>> DatasetWorkshop::ratify(std::string text, std::string who) {
  if (auto named = datasets::check_who(who); !named)
    co_return std::unexpected(std::move(named.error()).within("your name"));
  auto reviewed = co_await review(text);
  if (!reviewed) co_return std::unexpected(std::move(reviewed.error()));
  if (datasets::any_refuses(reviewed->problems)) co_return std::unexpected(refused(reviewed->problems));
  const std::string name = reviewed->mapping->name;
  if (auto noted = co_await note(who, "dataset.ratify", name, datasets::mapping_hash(text)); !noted)
    co_return std::unexpected(std::move(noted.error()));
  const auto directory = co_await dependencies_.registry.directory();
  auto made =
      co_await run([text = std::move(text), mapping = std::move(*reviewed->mapping), who = std::move(who), directory,
                    now = dependencies_.clock.wall()] { return directory->ratify(text, mapping, who, now); });
  if (!made) co_return std::unexpected(std::move(made.error()));
  co_await dependencies_.registry.look();
  co_return Ratified{name, std::move(*made), std::move(reviewed->problems)};
}

Task<Result<datasets::Ratification>> DatasetWorkshop::revoke(std::string name, std::string who) {
  if (auto named = datasets::check_dataset_name(name); !named) co_return std::unexpected(std::move(named.error()));
  if (auto noted = co_await note(who, "dataset.revoke", name, ""); !noted)
    co_return std::unexpected(std::move(noted.error()));
  const auto directory = co_await dependencies_.registry.directory();
  auto made = co_await run([name = std::move(name), who = std::move(who), directory, now = dependencies_.clock.wall()] {
    return directory->revoke(name, who, now);
  });
  if (!made) co_return std::unexpected(std::move(made.error()));
  co_await dependencies_.registry.look();
  co_return std::move(*made);
}

Task<Result<std::string>> DatasetWorkshop::mapping(std::string name) {
  const auto state = dependencies_.registry.state();
  const auto* const file = state->content.find(name);
  if (file == nullptr)
    co_return std::unexpected(errors::not_found(fmt::format("there is no dataset {}", log::printable(name, 100))));
  const auto directory = co_await dependencies_.registry.directory();
  co_return co_await run([path = directory->path() / file->file] {
    return datasets::read_plain_file(path, datasets::limits::kMappingBytes);
  });
}

}  // namespace proteus::gateway
