-- What a lesson page needs beyond plain Quarto: labels on cells and answer slots, tables as wide as their content, no id twice, a link to
-- the page's other language. `course site` writes labels and links itself and takes from here what remains.

local words = {}
local other = { zh = "en", en = "zh" }
local lang = "zh"
local all = {}
local taken = {}

local function meta(m)
  lang = pandoc.utils.stringify(m.lang or "zh"):sub(1, 2)
  for code, list in pairs(m["course-words"] or {}) do
    all[code] = {}
    for name, text in pairs(list) do all[code][name] = pandoc.utils.stringify(text) end
  end
  words = all[lang] or {}
end

local function div(d)
  local slot = d.classes:includes("answer")
  if slot or d.classes:includes("answer-slot") then taken[d.identifier] = true end
  if slot then
    d.classes:insert("answer-slot")
    if #d.content == 0 and words.slot then d.content = { pandoc.Plain({ pandoc.Str(words.slot) }) } end
    return d
  end
  local role = d.attributes["course_role"]
  if d.classes:includes("cell") and role then
    d.classes:insert("course-cell")
    if words[role] then
      local label = pandoc.Span({ pandoc.Str(words[role]) }, pandoc.Attr("", { "cell-role", "role-" .. role }))
      d.content:insert(1, pandoc.Plain({ label }))
    end
    return d
  end
end

-- "### Q1" would take the id of the slot below it.
local function header(h)
  if taken[h.identifier] then h.identifier = h.identifier .. "-question" return h end
end

-- Column widths from the number of dashes, and paragraphs where a cell holds a variable alone, are of no use to a reader.
local function table_(t)
  for i, spec in ipairs(t.colspecs) do t.colspecs[i] = { spec[1] } end
  t = t:walk({ Para = function(p) return pandoc.Plain(p.content) end })
  return pandoc.Div({ t }, pandoc.Attr("", { "course-table" }))
end

local function document(doc)
  local name = quarto.doc.input_file:match("([^/\\]+)%.qmd$")
  if other[name] and all[other[name]] then
    local link = pandoc.Link({ pandoc.Str(all[other[name]].language) }, other[name] .. ".html", "", pandoc.Attr("", {}, { hreflang = other[name], lang = other[name] }))
    doc.blocks:insert(1, pandoc.Div({ pandoc.Plain({ link }) }, pandoc.Attr("", { "other-language" })))
    return doc
  end
end

return { { Meta = meta }, { Div = div }, { Header = header, Table = table_ }, { Pandoc = document } }
