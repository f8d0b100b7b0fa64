import { askStream } from '../../api/client.ts'
import { countLines, type Form } from './lines.ts'

const TYPES: Readonly<Record<Form, string>> = { csv: 'text/csv', ndjson: 'application/x-ndjson' }

/** Where what comes is kept. */
interface Sink {
  write(chunk: Uint8Array<ArrayBuffer>): Promise<void>
  close(): Promise<void>
  abort(): Promise<void>
}

interface FilePicker {
  showSaveFilePicker?(options: { suggestedName: string }): Promise<{ createWritable(): Promise<Sink> }>
}

export interface Download {
  path: string
  body: string
  form: Form
  name: string
  signal: AbortSignal
  told(hits: number, bytes: number): void
}

/** Writes all hits into a file as they come, and says how many there were; undefined where no file was chosen. */
export const download = async ({ path, body, form, name, signal, told }: Download): Promise<number | undefined> => {
  const sink = await openSink(name, TYPES[form])
  if (!sink) return undefined
  try {
    const response = await askStream(path, { body, signal, headers: { accept: TYPES[form] } })
    const counter = countLines(form)
    let bytes = 0
    const reader = response.body!.getReader()
    for (;;) {
      const { done, value } = await reader.read()
      if (done) break
      await sink.write(value)
      bytes += value.length
      told(counter.add(value), bytes)
    }
    await sink.close()
    return counter.lines()
  } catch (error) {
    await sink.abort()
    throw error instanceof TypeError ? new Error('The download broke off: the server went away. Try again.') : error
  }
}

/** The browser writes it to the disk where it can, so that it takes no memory; else it is handed over as a whole at the end. */
const openSink = async (name: string, type: string): Promise<Sink | undefined> => {
  const { showSaveFilePicker } = window as FilePicker
  if (showSaveFilePicker === undefined) return blobSink(name, type)
  try {
    const file = await showSaveFilePicker.call(window, { suggestedName: name })
    return await file.createWritable()
  } catch (error) {
    if ((error as Error).name === 'AbortError') return undefined
    return blobSink(name, type)
  }
}

const PART = 8 << 20

const blobSink = (name: string, type: string): Sink => {
  const parts: Blob[] = []
  let open: Uint8Array<ArrayBuffer>[] = []
  let size = 0
  // A blob may lie on the disk; bytes of JavaScript's lie in memory.
  const keep = () => {
    parts.push(new Blob(open))
    open = []
    size = 0
  }
  return {
    async write(chunk) {
      open.push(chunk)
      size += chunk.length
      if (size > PART) keep()
    },
    async close() {
      keep()
      const url = URL.createObjectURL(new Blob(parts, { type }))
      const link = document.createElement('a')
      link.href = url
      link.download = name
      link.click()
      setTimeout(() => URL.revokeObjectURL(url), 60_000)
    },
    async abort() {
      parts.length = 0
    },
  }
}
