import { isRecord } from '../../lib/arrays.ts'

/** A line of a file that has no counterpart here, or only another one. */
export interface Lack {
  file: string
  path: string
  message: string
}

/** A value in a file, which says where it is. */
export interface FilePart {
  readonly file: string
  readonly path: string
  readonly value: unknown
  lack(message: string): void
  member(name: string): FilePart
  /** The elements of a list; a missing list has none. */
  elements(): FilePart[]
  text(): string | undefined
  /** Reports all members but these. */
  only(names: readonly string[]): void
}

export const createPart = (file: string, value: unknown, lacks: Lack[], path = ''): FilePart => {
  const inner = (step: string, it: unknown) => createPart(file, it, lacks, step)
  const part: FilePart = {
    ...{ file, path, value },
    lack: message => void lacks.push({ file, path, message }),
    member: name =>
      inner(
        path === '' ? name : `${path}.${name}`,
        isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined,
      ),
    elements: () => (Array.isArray(value) ? value.map((it, index) => inner(`${path}[${index}]`, it)) : []),
    text: () => (typeof value === 'string' ? value : undefined),
    only(names) {
      for (const name of isRecord(value) ? Object.keys(value) : [])
        if (!names.includes(name) && !saysNothing(part.member(name).value))
          part.member(name).lack('it has no counterpart.')
    },
  }
  return part
}

const saysNothing = (value: unknown): boolean =>
  value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0)
