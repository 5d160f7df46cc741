#include <filesystem>

#include <fmt/format.h>

#include "app/config/source_reader.hpp"
#include "base/settings/names.hpp"
#include "base/settings/nearest.hpp"

namespace proteus::app {
namespace {

using json::Place;

constexpr std::size_t kMaxManifests = 1000;

// A context or a schema as written in a file.
struct Manifest {
  const Source* source = nullptr;
  const boost::json::value* keys = nullptr;
  std::string section;  // "contexts" or "schemas"; empty if the whole file is the manifest
};
using Manifests = std::map<std::string, Manifest>;

std::string missing(std::string_view kind, std::string_view name, const Manifests& known) {
  std::vector<std::string_view> names;
  for (const auto& [other, manifest] : known)
    names.push_back(other);
  return fmt::format("there is no {} {}{}", kind, name, did_you_mean(name, names));
}

class ContextReader {
 public:
  ContextReader(const ContextSources& sources, Config& config, Diagnostics& diagnostics)
      : config_(config), diagnostics_(diagnostics) {
    if (sources.main != nullptr) {
      collect(*sources.main, sources.contexts, "contexts", contexts_, Severity::fault);
      collect(*sources.main, sources.schemas, "schemas", schemas_, Severity::fault);
    }
    for (const Source& file : *sources.files)
      collect_file(file);
  }

  void read_all() {
    for (const auto& [name, manifest] : schemas_)
      read_schema(name, manifest);
    for (const auto& [name, manifest] : contexts_)
      read_context(name);
    for (const auto& [name, manifest] : contexts_)
      warn_of_siblings(name, manifest);
  }

 private:
  enum class State : std::uint8_t { reading, done };

  void collect(const Source& source, const boost::json::value* section, const char* name, Manifests& into,
               Severity severity) {
    if (section == nullptr) return;
    json::Faults faults;
    const Place root(faults);
    const Place place = root.member(name);
    if (const auto* object = section->if_object()) {
      for (const auto& member : *object)
        add(into, std::string(member.key()), {&source, &member.value(), name}, place.member(member.key()));
    } else {
      json::wrong_kind(place, "a table of tables", *section);
      config_.broken.unread_file = true;
    }
    diagnostics_.add(section->is_object() ? Severity::broken_context : severity, source, faults.all());
  }

  void collect_file(const Source& source) {
    const std::string name = std::filesystem::path(source.name).stem().string();
    const auto& root = source.document.root().get_object();
    json::Faults faults;
    const Place place(faults);
    if (has_sections(root)) {
      for (const auto& member : root) {
        if (member.key() == "contexts") {
          collect(source, &member.value(), "contexts", contexts_, Severity::broken_context);
        } else if (member.key() == "schemas") {
          collect(source, &member.value(), "schemas", schemas_, Severity::broken_context);
        } else {
          place.member(member.key()).fault("is not allowed: a file with contexts or schemas may contain nothing else");
          config_.broken.unread_file = true;
        }
      }
    } else {
      const bool is_schema = root.contains("guidance") || root.contains("tools");
      add(is_schema ? schemas_ : contexts_, name, {&source, &source.document.root(), {}}, place);
    }
    diagnostics_.add(Severity::broken_context, source, faults.all());
  }

  // `schemas` can be a section of the file or a key of a context; as a key it is a list.
  static bool has_sections(const boost::json::object& root) {
    const auto* schemas = root.if_contains("schemas");
    return root.contains("contexts") || (schemas != nullptr && schemas->is_object());
  }

  static void add(Manifests& into, const std::string& name, const Manifest& manifest, const Place& place) {
    if (const auto fit = check_name(name); !fit) return place.fault("a name " + fit.error().message());
    if (into.size() >= kMaxManifests) return place.fault(fmt::format("is one more than the {} allowed", kMaxManifests));
    const auto [first, is_new] = into.emplace(name, manifest);
    if (!is_new) place.fault(fmt::format("{} is already defined in {}", name, first->second.source->name));
  }

  // Calls `read` with the place of the manifest and reports the faults that it finds. Returns whether there are none
  // and the document had none when it was parsed.
  template <class Read>
  bool examine(const std::string& name, const Manifest& manifest, Severity severity, const Read& read) {
    json::Faults faults;
    const Place root(faults);
    const Place section = root.member(manifest.section);
    if (manifest.section.empty()) {
      read(root);
    } else {
      read(section.member(name));
    }
    diagnostics_.add(severity, *manifest.source, faults.all());
    return faults.empty() && manifest.source->document.faults().empty();
  }

  void read_schema(const std::string& name, const Manifest& manifest) {
    SchemaSettings settings;
    const bool fits = examine(name, manifest, Severity::broken_context,
                              [&](const Place& place) { schema_binding().read(*manifest.keys, settings, place); });
    if (fits) {
      config_.schemas.emplace(name, std::move(settings));
    } else {
      config_.broken.schemas.insert(name);
    }
  }

  // Reads the parents first: their keys are the defaults of this context.
  void read_context(const std::string& name) {
    if (!states_.emplace(name, State::reading).second) return;
    const Manifest& manifest = contexts_.at(name);
    ContextSettings base;
    const std::string parent = parent_of(manifest);
    if (contexts_.contains(parent)) {
      read_context(parent);
      if (const auto found = config_.contexts.find(parent); found != config_.contexts.end()) base = found->second;
      if (const auto found = config_.broken.filters.find(parent); found != config_.broken.filters.end()) {
        base.include = found->second.include;
        base.exclude = found->second.exclude;
      }
    }
    ContextSettings settings = base;
    const bool fits = examine(name, manifest, Severity::broken_context, [&](const Place& place) {
      context_binding().read(*manifest.keys, settings, place);
      check_parent(parent, place);
      check_schemas(manifest, settings, place);
    });
    states_[name] = State::done;
    if (!fits) {
      config_.broken.contexts.insert(name);
      config_.broken.filters.insert_or_assign(name, ContextFilter{settings.include, settings.exclude});
      return;
    }
    settings.tool_supplements.insert(base.tool_supplements.begin(), base.tool_supplements.end());
    settings.parent = parent;
    config_.contexts.emplace(name, std::move(settings));
  }

  static std::string parent_of(const Manifest& manifest) {
    const auto* object = manifest.keys->if_object();
    const auto* parent = object == nullptr ? nullptr : object->if_contains("parent");
    return parent != nullptr && parent->is_string() ? std::string(parent->get_string()) : std::string();
  }

  void check_parent(const std::string& parent, const Place& place) {
    if (parent.empty() || !check_name(parent)) return;
    const Place at = place.member("parent");
    if (!contexts_.contains(parent)) return at.fault(missing("context", parent, contexts_));
    if (states_.at(parent) == State::reading) return at.fault("makes it its own ancestor");
    if (!config_.contexts.contains(parent)) at.fault(fmt::format("the context {} is broken", parent));
  }

  void check_schemas(const Manifest& manifest, const ContextSettings& settings, const Place& place) {
    const auto* object = manifest.keys->if_object();
    if (object == nullptr || !object->contains("schemas")) return;
    const Place list = place.member("schemas");
    for (std::size_t i = 0; i < settings.schemas.size(); ++i) {
      const std::string& schema = settings.schemas[i];
      if (!schema.empty() && !schemas_.contains(schema)) list.item(i).fault(missing("schema", schema, schemas_));
    }
  }

  void warn_of_siblings(const std::string& name, const Manifest& manifest) {
    const auto found = config_.contexts.find(name);
    const auto* object = manifest.keys->if_object();
    if (found == config_.contexts.end() || !object->contains("sibling_subgraphs")) return;
    examine(name, manifest, Severity::warning, [&](const Place& place) {
      const Place list = place.member("sibling_subgraphs");
      const auto& siblings = found->second.sibling_subgraphs;
      for (std::size_t i = 0; i < siblings.size(); ++i) {
        if (!contexts_.contains(siblings[i])) list.item(i).fault(missing("context", siblings[i], contexts_));
      }
    });
  }

  Config& config_;
  Diagnostics& diagnostics_;
  Manifests contexts_;
  Manifests schemas_;
  std::map<std::string, State> states_;
};

}  // namespace

void read_contexts(const ContextSources& sources, Config& config, Diagnostics& diagnostics) {
  ContextReader(sources, config, diagnostics).read_all();
}

}  // namespace proteus::app
