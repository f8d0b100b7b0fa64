import { useState } from 'preact/hooks'
import { useGet } from '../../api/ask.ts'
import { callApi, messageOf } from '../../api/client.ts'
import type { AbiAnswer, Status } from '../../api/wire.ts'
import { Progress } from '../../parts/answer.tsx'
import { Button, CheckField, FileField, SelectField, TextField } from '../../parts/controls.tsx'
import { countText, visibleText } from '../../parts/format.ts'

interface UploadResult {
  file: string
  text: string
  failed: boolean
}

/** Uploads ABI files one by one: a bad file does not stop the others. */
export const Upload = ({ onAdded }: { onAdded(): void }) => {
  const status = useGet<Status>('status')
  const networks = status.data?.networks.map(({ network }) => network) ?? []
  const [network, setNetwork] = useState('')
  const [address, setAddress] = useState('')
  const [redecode, setRedecode] = useState(true)
  const [over, setOver] = useState(false)
  const [work, setWork] = useState<{ done: number; total: number }>()
  const [outcomes, setOutcomes] = useState<readonly UploadResult[]>([])
  const addressError =
    address === '' || ADDRESS.test(address.trim())
      ? undefined
      : 'An address is 0x and 40 hex digits. Leave it empty for any contract.'

  const add = async (files: readonly UploadedText[]) => {
    if (files.length === 0 || addressError !== undefined) return
    const told: UploadResult[] = []
    for (const [done, file] of files.entries()) {
      setWork({ done, total: files.length })
      told.push(await addOne(file, { network, address: address.trim(), redecode }))
      setOutcomes([...told])
    }
    setWork(undefined)
    onAdded()
  }

  return (
    <section
      class={over ? 'drop over' : 'drop'}
      aria-label="Add ABIs"
      onDragOver={event => {
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={event => {
        event.preventDefault()
        setOver(false)
        if (event.dataTransfer) void readTransfer(event.dataTransfer).then(add)
      }}
    >
      <h2>Add ABIs</h2>
      <p>
        Drop files or a folder here: JSON ABIs, and artifacts of Foundry (<code>out</code>) and Hardhat (
        <code>artifacts</code>).
      </p>
      <div class="filters">
        <SelectField
          label="Network"
          value={network}
          options={[{ value: '', label: 'all networks' }, ...networks.map(value => ({ value, label: value }))]}
          onChange={setNetwork}
        />
        <TextField
          label="Address"
          value={address}
          onInput={setAddress}
          error={addressError}
          hint="Empty: every contract that the ABI fits."
        />
        <CheckField label="Decode stored blocks again" checked={redecode} onChange={setRedecode} />
        <FileField
          label="Choose files"
          accept=".json,.abi,.txt"
          multiple
          disabled={work !== undefined}
          onFiles={files => add(files.map(readOf))}
        />
      </div>
      {work && <Progress label="Adds files" {...work} />}
      {outcomes.length > 0 && (
        <div role="status">
          <ul class="outcomes">
            {outcomes.map(({ file, text, failed }, i) => (
              <li key={i} class={failed ? 'bad' : 'good'}>
                <strong>{visibleText(file)}</strong>: {visibleText(text)}
              </li>
            ))}
          </ul>
          {work === undefined && <Button class="link" label="Clear this list" onClick={() => setOutcomes([])} />}
        </div>
      )}
    </section>
  )
}

const ADDRESS = /^0x[0-9a-f]{40}$/i

interface AbiTarget {
  network: string
  address: string
  redecode: boolean
}

const addOne = async (file: UploadedText, { network, address, redecode }: AbiTarget): Promise<UploadResult> => {
  try {
    const text = await file.text()
    const where = new URLSearchParams({ redecode: String(redecode) })
    if (network) where.set('network', network)
    if (address) where.set('address', address)
    // Several ABIs in one body need names.
    if (!SEVERAL.test(text)) where.set('name', file.name.replace(/\.\w+$/, ''))
    const { abis } = await callApi<{ abis: AbiAnswer[] }>(`abis?${where}`, { body: text })
    return { file: file.name, text: abis.map(abiSummary).join('; '), failed: false }
  } catch (error) {
    return { file: file.name, text: messageOf(error), failed: true }
  }
}

const SEVERAL = /^\s*\{\s*"abis"\s*:/

const abiSummary = ({ events, functions, errors }: AbiAnswer) =>
  `added with ${counted(events, 'event')}, ${counted(functions, 'function')} and ${counted(errors, 'error')}`

const counted = (number: number | null, what: string) => (number === null ? `many ${what}s` : countText(number, what))

/** A file's name and text. */
interface UploadedText {
  name: string
  text(): Promise<string>
}

const MAX_FILES = 2_000

/** Chosen or dropped files, also in folders such as Foundry's `out`; skips files without an ABI. */
const readTransfer = async (transfer: DataTransfer): Promise<UploadedText[]> => {
  // The browser empties the list after the event.
  const entries = [...transfer.items].map(item => item.webkitGetAsEntry()).filter(entry => entry !== null)
  const found: File[] = []
  for (const entry of entries) await collect(entry, found)
  return (entries.length > 0 ? found : [...transfer.files]).map(readOf)
}

const readOf = (file: File): UploadedText => ({ name: file.name, text: () => file.text() })

const collect = async (entry: FileSystemEntry, found: File[]): Promise<void> => {
  if (found.length >= MAX_FILES) return
  if (isFileEntry(entry)) {
    if (isLikely(entry.name) || entry.fullPath === `/${entry.name}`)
      found.push(await new Promise<File>((resolve, reject) => entry.file(resolve, reject)))
  } else if (isFolder(entry) && entry.name !== 'build-info')
    for (const inner of await readFolder(entry)) await collect(inner, found)
}

const isFileEntry = (entry: FileSystemEntry): entry is FileSystemFileEntry => entry.isFile
const isFolder = (entry: FileSystemEntry): entry is FileSystemDirectoryEntry => entry.isDirectory

/** In folders, only artifacts. */
const isLikely = (name: string): boolean => name.endsWith('.json') && !/\.(dbg|metadata)\.json$/.test(name)

/** The reader returns a folder in chunks, the last of them empty. */
const readFolder = async (folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> => {
  const reader = folder.createReader()
  const all: FileSystemEntry[] = []
  for (;;) {
    const part = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject))
    if (part.length === 0) return all
    all.push(...part)
  }
}
