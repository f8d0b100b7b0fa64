import { useMemo, useState } from 'preact/hooks'
import { isJsonObject, ownEntry, parseJson } from '../../api/json.ts'
import type { Kind } from '../../api/wire.ts'
import { useKey } from '../../browser/keys.ts'
import { Link, navigate, setQuery } from '../../browser/router.tsx'
import { rootUrl } from '../../browser/state.ts'
import { announce } from '../../parts/announce.ts'
import { Button, CheckField, confirm, Dialog, Form, TextField } from '../../parts/controls.tsx'
import { visibleText } from '../../parts/format.ts'
import { Icon, type IconName } from '../../parts/icon.tsx'
import { Menu } from '../../parts/menu.tsx'
import { copyText } from '../../parts/text.tsx'
import { TITLES } from './columns.tsx'
import { clauseOf } from './conditions.ts'
import { DownloadDialog } from './download.tsx'
import { type Catalogue, fieldsOf } from './fields.ts'
import { type ExploreQuery, plainBody } from './query.ts'
import { RangeMenu } from './range.tsx'
import { DEFAULT_COLUMNS, type Search, setColumns } from './state.ts'
import { layOut } from './tree.ts'

interface ToolbarProps {
  search: Search
  asked: ExploreQuery | undefined
  total: number
  catalogue: Catalogue | undefined
  /** Loads the catalogue for the choice of columns. */
  onWanted(): void
}

type Open = 'columns' | 'saved' | 'download'

export const Toolbar = ({ search, asked, total, catalogue, onWanted }: ToolbarProps) => {
  const { view, follows } = search
  const [open, setOpen] = useState<Open>()
  const close = () => setOpen(undefined)
  const follow = () => setQuery({ follow: follows ? '' : '1', ...(!follows && { sort: '' }) })
  useKey('f', 'Follows the chain, or stops', follow)
  const views = view.split(',').filter(Boolean)
  const toggle = (name: string) => {
    const next = views.includes(name) ? views.filter(it => it !== name) : [...views, name]
    setQuery({ view: next.join() }, { replace: true })
  }
  const choose = () => {
    onWanted()
    setOpen('columns')
  }
  return (
    <div class="tools">
      <RangeMenu search={search} />
      <Button
        {...quiet('filter', 'Conditions')}
        expanded={views.includes('conditions')}
        onClick={() => toggle('conditions')}
      />
      <Button {...quiet('follow', 'Follow')} pressed={follows} onClick={follow} />
      <Menu
        class="quiet icon"
        name="More actions"
        label={<Icon name="more" />}
        items={[
          { title: 'Columns', icon: 'columns', run: choose },
          {
            title: 'JSON editor',
            icon: 'abis',
            checked: views.includes('json'),
            isOwn: true,
            run: () => toggle('json'),
          },
          { title: 'Saved searches', icon: 'saved', run: () => setOpen('saved') },
          ...(asked
            ? ([
                { title: 'Create rule', icon: 'rules', run: () => navigate(ruleHref(search, asked)) },
                { title: 'Download', icon: 'download', run: () => setOpen('download') },
                { title: 'Copy as a link', icon: 'copy', run: () => copyText(location.href, 'the link') },
                { title: 'Copy as curl', icon: 'copy', run: () => copyText(curlOf(search, asked), 'the command') },
                { title: 'Copy as JSON', icon: 'copy', run: () => copyText(layOut(plainBody(asked)), 'the body') },
              ] as const)
            : []),
          ...Object.entries(search.text === '' && search.network === DEMO ? DEMO_SEARCHES : {}).map(
            ([title, query], i) => ({
              ...{ title, run: () => navigate(`/explore?${new URLSearchParams(query)}`) },
              ...(i === 0 && { group: 'Examples' }),
            }),
          ),
        ]}
      />
      {open === 'columns' && catalogue && (
        <Chooser columns={search.columns} catalogue={catalogue} kinds={search.kinds} onClose={close} />
      )}
      {open === 'saved' && <SavedSearches network={search.network} onClose={close} />}
      {open === 'download' && asked && <DownloadDialog search={search} asked={asked} total={total} onClose={close} />}
    </div>
  )
}

/** A button that a phone shows as its icon. */
const quiet = (icon: IconName, name: string) => ({
  ...{ class: 'quiet', name },
  label: (
    <>
      <Icon name={icon} />
      <span class="name">{name}</span>
    </>
  ),
})

const DEMO = 'ethereum/demo/local'
const DOLLAR = '0x252bFe6BA05B239912fE0F8f514b3564F40A7A96'

/** Example searches of the demo chain. */
const DEMO_SEARCHES: Record<string, Record<string, string>> = {
  'Transfers of the demo dollar above 1,000': {
    ...{ kinds: 'event', view: 'conditions' },
    q: clauseOf([
      { field: 'event.raw', operator: 'is', not: false, value: 'Transfer' },
      { field: 'address', operator: 'match', not: false, value: DOLLAR },
      { field: 'args.value.scaled', argument: 'value', operator: 'gt', not: false, value: '1000' },
    ]),
  },
  'Everything about one token': { kinds: 'tx,event,log,call,contract,token', q: DOLLAR },
  'Failed transactions, most expensive first': {
    ...{ kinds: 'tx', q: 'status:false', sort: 'gasUsed:desc', columns: '@time,@block,@thing,@what,gasUsed' },
  },
  'Swaps, in Lucene’s syntax': { kinds: 'event', q: 'event:Swap AND blockNumber.num:>100' },
  'All that is in block 400': { kinds: 'block,tx,event,call', q: '400' },
}

const urlOf = ({ network, kinds }: Search): string =>
  new URL(`${rootUrl}${network}/es/${kinds.join()}/search/`, location.href).href

/** A shell command without the token. */
const curlOf = (search: Search, asked: ExploreQuery): string =>
  [
    `curl -s ${shellQuoted(urlOf(search))} \\`,
    `  -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' \\`,
    `  -d ${shellQuoted(layOut(plainBody(asked)))}`,
  ].join('\n')

const shellQuoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`

/** Opens the query in the rule editor, which reports what rules cannot express. */
const ruleHref = ({ network, kinds }: Search, { query = '' }: ExploreQuery): string =>
  `/rules/new?${new URLSearchParams({ from: query, network, kinds: kinds.join() })}`

interface ChooserProps {
  columns: readonly string[]
  catalogue: Catalogue
  kinds: readonly Kind[]
  onClose(): void
}

/** Column choice; chosen ones come first and can be moved. */
const Chooser = ({ columns, catalogue, kinds, onClose }: ChooserProps) => {
  const [sought, setSought] = useState('')
  const meanings = useMemo(() => {
    const all = new Map<string, string>(Object.entries(TITLES))
    for (const { shownAs, meaning } of fieldsOf(catalogue, kinds)) if (!all.has(shownAs)) all.set(shownAs, meaning)
    return all
  }, [catalogue, kinds])
  const found = [...meanings].filter(
    ([name, meaning]) =>
      !columns.includes(name) && `${name} ${meaning}`.toLowerCase().includes(sought.trim().toLowerCase()),
  )
  const move = (from: number, to: number) => setColumns(columns.toSpliced(from, 1).toSpliced(to, 0, columns[from]!))
  return (
    <Dialog title="Columns" onClose={onClose}>
      <ul class="columns">
        {columns.map((name, i) => (
          <li key={name}>
            <CheckField
              label={titleOf(name)}
              checked
              onChange={() => columns.length > 1 && setColumns(columns.toSpliced(i, 1))}
            />
            <Button
              class="quiet"
              label="←"
              name={`Move ${titleOf(name)} left`}
              disabled={i === 0}
              onClick={() => move(i, i - 1)}
            />
            <Button
              class="quiet"
              label="→"
              name={`Move ${titleOf(name)} right`}
              disabled={i === columns.length - 1}
              onClick={() => move(i, i + 1)}
            />
          </li>
        ))}
      </ul>
      <TextField label="Find a field" value={sought} onInput={setSought} />
      <ul class="columns more" aria-label="Further columns">
        {found.map(([name, meaning]) => (
          <li key={name}>
            <CheckField label={titleOf(name)} checked={false} onChange={() => setColumns([...columns, name])} />
            <span class="dim">{name.startsWith('@') ? '' : meaning}</span>
          </li>
        ))}
      </ul>
      {found.length === 0 && <p>No further field of these kinds fits.</p>}
      <p class="actions">
        <Button label="Show the usual columns" onClick={() => setColumns(DEFAULT_COLUMNS.split(','))} />
      </p>
    </Dialog>
  )
}

const titleOf = (name: string) => ownEntry(TITLES, name) ?? name

interface Saved {
  name: string
  /** Query string of its address. */
  query: string
}

const SAVED_SEARCHES_KEY = 'chainsieve.searches'
const readSaved = (): Saved[] => {
  try {
    const list = parseJson(localStorage.getItem(SAVED_SEARCHES_KEY) ?? '[]')
    if (!Array.isArray(list)) return []
    return list.flatMap(it =>
      isJsonObject(it) && typeof it.name === 'string' && typeof it.query === 'string'
        ? [{ name: it.name, query: it.query }]
        : [],
    )
  } catch {
    return []
  }
}

const write = (searches: readonly Saved[]): boolean => {
  try {
    localStorage.setItem(SAVED_SEARCHES_KEY, JSON.stringify(searches))
    return true
  } catch {
    announce('This browser does not let the console keep anything. Keep the address of the page instead.', 'error')
    return false
  }
}

/** Saved searches of this browser. */
const SavedSearches = ({ network, onClose }: { network: string; onClose(): void }) => {
  const [searches, setSearches] = useState(readSaved)
  const [name, setName] = useState('')
  const [error, setError] = useState<string>()

  const keep = (next: readonly Saved[]) => write(next) && setSearches([...next])
  const save = async () => {
    const named = name.trim()
    if (named === '') return setError('Type a name.')
    setError(undefined)
    // Another tab may have changed them.
    const others = readSaved().filter(it => it.name !== named)
    if (others.length < readSaved().length && !(await replaces(named))) return
    const parameters = new URLSearchParams(location.search)
    parameters.set('network', network)
    parameters.delete('open')
    if (keep([...others, { name: named, query: parameters.toString() }].sort(byName))) {
      setName('')
      announce(`Saved “${visibleText(named)}” in this browser.`)
    }
  }
  const remove = async ({ name }: Saved) => {
    const text = 'The search is removed from this browser. That cannot be undone.'
    if (await confirm({ title: `Remove “${visibleText(name)}”?`, text, action: 'Remove the search' }))
      keep(readSaved().filter(it => it.name !== name))
  }

  return (
    <Dialog title="Saved searches" onClose={onClose}>
      <Form onSubmit={save}>
        <TextField label="Save the search that is shown as" value={name} onInput={setName} error={error} />
        <button type="submit">Save</button>
      </Form>
      {searches.length === 0 && <p>No search is saved yet.</p>}
      <ul class="saved">
        {searches.map(search => (
          <li key={search.name}>
            <span onClickCapture={onClose}>
              <Link to={`/explore?${search.query}`}>{visibleText(search.name)}</Link>
            </span>
            <Button
              class="quiet"
              label="Remove"
              name={`Remove ${visibleText(search.name)}`}
              onClick={() => remove(search)}
            />
          </li>
        ))}
      </ul>
      <p class="dim">
        Searches are saved in this browser alone. To keep one elsewhere, or to share it, copy the address of the page.
      </p>
    </Dialog>
  )
}

const byName = (a: Saved, b: Saved) => a.name.localeCompare(b.name)

const replaces = (name: string) =>
  confirm({
    title: `Replace “${visibleText(name)}”?`,
    text: 'There is a search of this name. It becomes the one that is shown now.',
    action: 'Replace the search',
  })
