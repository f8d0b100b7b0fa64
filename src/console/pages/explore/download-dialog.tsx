import { useEffect, useRef, useState } from 'preact/hooks'
import { Dialog } from '../../parts/dialog.tsx'
import { Fault } from '../../parts/fault.tsx'
import { CheckField, SelectField } from '../../parts/field.tsx'
import { Progress } from '../../parts/progress.tsx'
import { type Asked, allBody } from './body.ts'
import { download } from './download.ts'
import type { Form } from './lines.ts'
import type { Search } from './state.ts'

interface Props {
  search: Search
  asked: Asked
  total: number
  onClose(): void
}

type State =
  | { is: 'asked' }
  | { is: 'under way' | 'done'; hits: number; bytes: number }
  | { is: 'failed'; error: unknown }

/** What columns that are worked out are made of. */
const MADE_OF: Readonly<Record<string, readonly string[]>> = {
  '@time': ['timestamp'],
  '@block': ['number.num', 'blockNumber.num', 'firstSeen.num'],
  '@thing': ['transactionHash'],
  '@what': ['from', 'to', 'address', 'method', 'event', 'str', 'error'],
  '@amount': ['value', 'args'],
}

/** All hits into a file, however many. */
export const DownloadDialog = ({ search, asked, total, onClose }: Props) => {
  const [form, setForm] = useState<Form>('csv')
  const [isAll, setAll] = useState(true)
  const [state, setState] = useState<State>({ is: 'asked' })
  const under = useRef<AbortController>(undefined)
  useEffect(() => () => under.current?.abort(), [])

  const start = async () => {
    const controller = new AbortController()
    under.current = controller
    const { signal } = controller
    setState({ is: 'under way', hits: 0, bytes: 0 })
    try {
      let [bytes, shownAt] = [0, 0]
      const hits = await download({
        path: `${search.network}/es/${search.kinds.join()}/search/`,
        body: allBody(
          asked,
          isAll ? undefined : search.columns.flatMap(name => MADE_OF[name] ?? (name.startsWith('@') ? [] : [name])),
        ),
        ...{ form, signal, name: `${search.network.replaceAll('/', '-')}-${search.kinds.join('-')}.${form}` },
        told(hits, all) {
          bytes = all
          if (performance.now() - shownAt < SHOWN_MS || signal.aborted) return
          shownAt = performance.now()
          setState({ is: 'under way', hits, bytes })
        },
      })
      if (!signal.aborted) setState(hits === undefined ? { is: 'asked' } : { is: 'done', hits, bytes })
    } catch (error) {
      setState(signal.aborted ? { is: 'asked' } : { is: 'failed', error })
    }
  }

  return (
    <Dialog title="Download" onClose={onClose}>
      {state.is === 'under way' ? (
        <>
          <Progress label="Hits" done={state.hits} total={total} />
          <p role="status">{sizeOf(state.bytes)} so far</p>
          <button type="button" onClick={() => under.current?.abort()}>
            Cancel the download
          </button>
        </>
      ) : (
        <form
          onSubmit={event => {
            event.preventDefault()
            void start()
          }}
        >
          <p>{total.toLocaleString()} hits are written into a file as they come.</p>
          <SelectField label="Format" value={form} options={FORMS} onChange={value => setForm(value as Form)} />
          <CheckField label="All fields" checked={isAll} onChange={setAll} />
          <p class="dim">
            {isAll ? 'The file has every field of a hit.' : 'The file has the fields that the columns show.'}
          </p>
          <button type="submit" class="main">
            Download
          </button>
        </form>
      )}
      <div role="status">
        {state.is === 'done' && (
          <p class="good">
            Downloaded {state.hits.toLocaleString()} {state.hits === 1 ? 'hit' : 'hits'}, {sizeOf(state.bytes)}.
          </p>
        )}
      </div>
      {state.is === 'failed' && <Fault title="The download failed" error={state.error} />}
    </Dialog>
  )
}

const FORMS = [
  { value: 'csv', label: 'CSV: a table with a line of names' },
  { value: 'ndjson', label: 'NDJSON: a line of JSON for each hit' },
]

const SHOWN_MS = 100

const sizeOf = (bytes: number) => (bytes < 1e6 ? `${(bytes / 1e3).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`)
