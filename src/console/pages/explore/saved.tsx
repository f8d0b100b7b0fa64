import { useState } from 'preact/hooks'
import { isObject, parseJson } from '../../api/json.ts'
import { confirm, Dialog } from '../../parts/dialog.tsx'
import { TextField } from '../../parts/field.tsx'
import { announce } from '../../parts/toast.tsx'
import { plain } from '../../parts/visible.ts'
import { Link } from '../../shell/router.tsx'

interface Saved {
  name: string
  /** What stands behind the question mark of its address. */
  query: string
}

const KEY = 'chainsieve.searches'
const LONGEST_NAME = 100

const read = (): Saved[] => {
  try {
    const list = parseJson(localStorage.getItem(KEY) ?? '[]')
    if (!Array.isArray(list)) return []
    return list.flatMap(it =>
      isObject(it) && typeof it.name === 'string' && typeof it.query === 'string'
        ? [{ name: it.name, query: it.query }]
        : [],
    )
  } catch {
    return []
  }
}

const write = (searches: readonly Saved[]): boolean => {
  try {
    localStorage.setItem(KEY, JSON.stringify(searches))
    return true
  } catch {
    announce('This browser does not let the console keep anything. Keep the address of the page instead.', 'error')
    return false
  }
}

/** Without what is open at the moment. */
const queryNow = (): string => {
  const parameters = new URLSearchParams(location.search)
  parameters.delete('open')
  return parameters.toString()
}

/** Searches by name, as this browser keeps them. */
export const SavedSearches = ({ network, onClose }: { network: string; onClose(): void }) => {
  const [searches, setSearches] = useState(read)
  const [name, setName] = useState('')
  const [error, setError] = useState<string>()

  const keep = (next: readonly Saved[]) => write(next) && setSearches([...next])
  const save = async () => {
    const named = name.trim()
    if (named === '') return setError('Type a name.')
    if (named.length > LONGEST_NAME) return setError(`A name may have ${LONGEST_NAME} characters.`)
    setError(undefined)
    // Another tab may have saved one since.
    const others = read().filter(it => it.name !== named)
    if (others.length < read().length && !(await replaces(named))) return
    const parameters = new URLSearchParams(queryNow())
    parameters.set('network', network)
    if (keep([...others, { name: named, query: parameters.toString() }].sort(byName))) {
      setName('')
      announce(`Saved “${plain(named)}” in this browser.`)
    }
  }
  const remove = async ({ name }: Saved) => {
    const text = 'The search is removed from this browser. That cannot be undone.'
    if (await confirm({ title: `Remove “${plain(name)}”?`, text, action: 'Remove the search' }))
      keep(read().filter(it => it.name !== name))
  }

  return (
    <Dialog title="Saved searches" onClose={onClose}>
      <form
        onSubmit={event => {
          event.preventDefault()
          void save()
        }}
      >
        <TextField label="Save the search that is shown as" value={name} onInput={setName} error={error} />
        <button type="submit">Save</button>
      </form>
      {searches.length === 0 && <p>No search is saved yet.</p>}
      <ul class="saved">
        {searches.map(search => (
          <li key={search.name}>
            <span onClickCapture={onClose}>
              <Link to={`/explore?${search.query}`}>{plain(search.name)}</Link>
            </span>
            <button
              type="button"
              class="quiet"
              aria-label={`Remove ${plain(search.name)}`}
              onClick={() => void remove(search)}
            >
              Remove
            </button>
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
    title: `Replace “${plain(name)}”?`,
    text: 'There is a search of this name. It becomes the one that is shown now.',
    action: 'Replace the search',
  })
