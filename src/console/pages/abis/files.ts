/** Text of a file, and how it is called. */
export interface Read {
  name: string
  text(): Promise<string>
}

const MOST = 2_000

/** The files that were chosen or dropped, also in folders, such as Foundry's `out`, without what holds no ABI. */
export const filesOf = async (transfer: DataTransfer): Promise<Read[]> => {
  // The list is empty once the event is over.
  const entries = [...transfer.items].map(item => item.webkitGetAsEntry()).filter(entry => entry !== null)
  const found: File[] = []
  for (const entry of entries) await collect(entry, found)
  return (entries.length > 0 ? found : [...transfer.files]).map(readOf)
}

export const readOf = (file: File): Read => ({ name: file.name, text: () => file.text() })

const collect = async (entry: FileSystemEntry, found: File[]): Promise<void> => {
  if (found.length >= MOST) return
  if (isFile(entry)) {
    if (isLikely(entry.name) || entry.fullPath === `/${entry.name}`)
      found.push(await new Promise<File>((resolve, reject) => entry.file(resolve, reject)))
  } else if (isFolder(entry) && entry.name !== 'build-info')
    for (const inner of await listOf(entry)) await collect(inner, found)
}

const isFile = (entry: FileSystemEntry): entry is FileSystemFileEntry => entry.isFile
const isFolder = (entry: FileSystemEntry): entry is FileSystemDirectoryEntry => entry.isDirectory

/** Of a folder, the artifacts alone. */
const isLikely = (name: string): boolean => name.endsWith('.json') && !/\.(dbg|metadata)\.json$/.test(name)

/** A reader gives a folder in parts, until one is empty. */
const listOf = async (folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> => {
  const reader = folder.createReader()
  const all: FileSystemEntry[] = []
  for (;;) {
    const part = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject))
    if (part.length === 0) return all
    all.push(...part)
  }
}
