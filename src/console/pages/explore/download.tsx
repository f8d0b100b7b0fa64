import { useEffect, useRef, useState } from 'preact/hooks'
import { callApiForStream } from '../../api/client.ts'
import { ownEntry } from '../../api/json.ts'
import { Fault, Progress } from '../../parts/answer.tsx'
import { Button, CheckField, Dialog, Form, SelectField } from '../../parts/controls.tsx'
import { countText, formatBytes } from '../../parts/format.ts'
import { allBody, countLines, type ExploreQuery, type FileForm } from './query.ts'
import type { Search } from './state.ts'

interface DownloadProps {
  search: Search
  asked: ExploreQuery
  total: number
  onClose(): void
}

type State =
  | { is: 'asked' }
  | { is: 'under way' | 'done'; hits: number; bytes: number }
  | { is: 'failed'; error: unknown }

const MADE_OF: Readonly<Record<string, readonly string[]>> = {
  '@time': ['timestamp'],
  '@block': ['number.num', 'blockNumber.num', 'firstSeen.num'],
  '@thing': ['transactionHash'],
  '@what': ['from', 'to', 'address', 'method', 'event', 'str', 'error'],
  '@amount': ['value', 'args'],
}

/** Downloads all hits. */
export const DownloadDialog = ({ search, asked, total, onClose }: DownloadProps) => {
  const [form, setForm] = useState<FileForm>('csv')
  const [isAll, setAll] = useState(true)
  const mayHaveColumns = ['event', 'call'].includes(search.kinds.join())
  const [wantsColumns, setColumns] = useState(false)
  // Parquet has no other form.
  const hasColumns = mayHaveColumns && (wantsColumns || form === 'parquet')
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
          isAll || hasColumns
            ? undefined
            : search.columns.flatMap(name => ownEntry(MADE_OF, name) ?? (name.startsWith('@') ? [] : [name])),
        ),
        ...{
          form,
          hasColumns,
          signal,
          name: `${search.network.replaceAll('/', '-')}-${search.kinds.join('-')}.${form}`,
        },
        told(hits, all) {
          bytes = all
          if (performance.now() - shownAt < SHOWN_MS || signal.aborted) return
          shownAt = performance.now()
          setState({ is: 'under way', hits, bytes })
        },
      })
      if (!signal.aborted)
        setState(hits === undefined ? { is: 'asked' } : { is: 'done', hits: form === 'parquet' ? total : hits, bytes })
    } catch (error) {
      setState(signal.aborted ? { is: 'asked' } : { is: 'failed', error })
    }
  }

  return (
    <Dialog title="Download" onClose={onClose}>
      {state.is === 'under way' ? (
        <>
          <Progress label="Hits" done={state.hits} total={total} />
          <p role="status">{formatBytes(state.bytes)} so far</p>
          <Button label="Cancel the download" onClick={() => under.current?.abort()} />
        </>
      ) : (
        <Form onSubmit={start}>
          <p>{total.toLocaleString()} hits are written into a file as they come.</p>
          <SelectField
            label="Format"
            value={form}
            options={FILE_FORMS.filter(({ value }) => value !== 'parquet' || mayHaveColumns)}
            onChange={value => setForm(value as FileForm)}
          />
          {mayHaveColumns && (
            <CheckField label="A column for each argument" checked={hasColumns} onChange={setColumns} />
          )}
          {!hasColumns && <CheckField label="All fields" checked={isAll} onChange={setAll} />}
          <p class="dim">
            {hasColumns
              ? 'The file has block, time, transaction, contract and arguments. The query has to select one event or method.'
              : isAll
                ? 'The file has every field of a hit.'
                : 'The file has the fields that the columns show.'}
          </p>
          <button type="submit" class="main">
            Download
          </button>
        </Form>
      )}
      <div role="status">
        {state.is === 'done' && (
          <p class="good">{`Downloaded ${countText(state.hits, 'hit')}, ${formatBytes(state.bytes)}.`}</p>
        )}
      </div>
      {state.is === 'failed' && <Fault title="The download failed" error={state.error} />}
    </Dialog>
  )
}

const FILE_FORMS = [
  { value: 'csv', label: 'CSV: a table with a line of names' },
  { value: 'ndjson', label: 'NDJSON: a line of JSON for each hit' },
  { value: 'parquet', label: 'Parquet: a column for each argument, for databases' },
]

const SHOWN_MS = 100

const MEDIA_TYPES: Readonly<Record<FileForm, string>> = {
  csv: 'text/csv',
  ndjson: 'application/x-ndjson',
  parquet: 'application/vnd.apache.parquet',
}

interface FilePicker {
  showSaveFilePicker?(options: { suggestedName: string }): Promise<{ createWritable(): Promise<WritableStream> }>
}

export interface Download {
  path: string
  body: string
  form: FileForm
  hasColumns: boolean
  name: string
  signal: AbortSignal
  told(hits: number, bytes: number): void
}

/** Streams all hits into a file and returns their number; undefined if no file was chosen. */
export const download = async ({
  path,
  body,
  form,
  hasColumns,
  name,
  signal,
  told,
}: Download): Promise<number | undefined> => {
  const file = await pickFile(name)
  if (file === 'none') return undefined
  const accept = `${MEDIA_TYPES[form]}${hasColumns ? '; args=columns' : ''}`
  const counter = countLines(form)
  let bytes = 0
  try {
    const { body: found } = await callApiForStream(path, { body, signal, headers: { accept } })
    const counted = found!.pipeThrough(
      new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
        transform(chunk, out) {
          bytes += chunk.length
          told(counter.add(chunk), bytes)
          out.enqueue(chunk)
        },
      }),
    )
    if (file) await counted.pipeTo(file)
    else offer(await new Response(counted).blob(), name)
    return counter.lines()
  } catch (error) {
    await file?.abort().catch(() => {})
    throw error instanceof TypeError ? new Error('The download broke off: the server went away. Try again.') : error
  }
}

/** A file on the disk, to save memory; undefined if the browser cannot write one. */
const pickFile = async (suggestedName: string): Promise<WritableStream | 'none' | undefined> => {
  try {
    return await (await (window as FilePicker).showSaveFilePicker?.({ suggestedName }))?.createWritable()
  } catch (error) {
    return (error as Error).name === 'AbortError' ? 'none' : undefined
  }
}

const offer = (file: Blob, name: string) => {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(file)
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}
