import type { Made } from './platforms.ts'

/** What kind of program a file is, as far as it can be told without running it. */
interface Inspected {
  format: Made['format'] | 'unknown'
  machine: Made['machine'] | 'unknown'
  /** Whether Node looks for a program in itself when it starts. */
  fused: boolean
  /** Whether there is a place by the name under which Node looks for it. */
  named: boolean
  /** Whether a signature is attached; one that was made before the injection does not fit any more. */
  signed: boolean
}

export const inspect = (file: Buffer): Inspected => {
  const fused = file.includes(`${FUSE}:1`) && !file.includes(`${FUSE}:0`)
  if (file.readUInt32BE(0) === 0x7f454c46)
    return { format: 'ELF', machine: elfMachine(file), fused, named: hasElfNote(file), signed: false }
  if (file.readUInt32LE(0) === 0xfeedfacf)
    return { format: 'Mach-O', machine: machMachine(file), fused, ...macho(file) }
  if (file.toString('latin1', 0, 2) === 'MZ') return { ...pe(file), fused }
  return { format: 'unknown', machine: 'unknown', fused, named: false, signed: false }
}

export const FUSE = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2'

const elfMachine = (file: Buffer) => (({ 62: 'x64', 183: 'arm64' }) as const)[file.readUInt16LE(18)] ?? 'unknown'

/** Whether a segment of notes (type 4) has one by the name. */
const hasElfNote = (file: Buffer): boolean => {
  const [at, size, count] = [Number(file.readBigUInt64LE(32)), file.readUInt16LE(54), file.readUInt16LE(56)]
  return Array.from({ length: count }, (_, i) => at + i * size)
    .filter(header => file.readUInt32LE(header) === 4)
    .some(header => {
      const start = Number(file.readBigUInt64LE(header + 8))
      return notesOf(file.subarray(start, start + Number(file.readBigUInt64LE(header + 32)))).includes('NODE_SEA_BLOB')
    })
}

const notesOf = (segment: Buffer): string[] => {
  const names: string[] = []
  const padded = (size: number) => Math.ceil(size / 4) * 4
  for (let at = 0; at + 12 <= segment.length; ) {
    const [name, content] = [segment.readUInt32LE(at), segment.readUInt32LE(at + 4)]
    names.push(segment.toString('latin1', at + 12, at + 12 + name).replace(/\0+$/, ''))
    at += 12 + padded(name) + padded(content)
  }
  return names
}

const machMachine = (file: Buffer) =>
  (({ 16777223: 'x64', 16777228: 'arm64' }) as const)[file.readUInt32LE(4)] ?? 'unknown'

const macho = (file: Buffer) => {
  let [named, signed] = [false, false]
  for (let i = 0, at = 32; i < file.readUInt32LE(16); i++, at += file.readUInt32LE(at + 4)) {
    const command = file.readUInt32LE(at)
    if (command === LC_SEGMENT_64 && file.subarray(at, at + file.readUInt32LE(at + 4)).includes('__NODE_SEA_BLOB'))
      named = true
    if (command === LC_CODE_SIGNATURE) signed = true
  }
  return { named, signed }
}

const pe = (file: Buffer) => {
  const header = file.readUInt32LE(0x3c)
  const machine = ({ 34404: 'x64', 43620: 'arm64' } as const)[file.readUInt16LE(header + 4)] ?? 'unknown'
  // Of the directories, the fifth is the table of signatures; before them stand 112 bytes of the optional header.
  const signed = file.readUInt32LE(header + 24 + 112 + 4 * 8 + 4) > 0
  return { format: 'PE', machine, signed, named: file.includes(Buffer.from('NODE_SEA_BLOB', 'utf16le')) } as const
}

const LC_SEGMENT_64 = 0x19
const LC_CODE_SIGNATURE = 0x1d
