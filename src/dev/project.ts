import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { artifactFiles, readAbiFile, writeAbi } from '../ingest/decoding/abi-files.ts'
import { isRecord } from '../lib/arrays.ts'
import { messageOf } from '../lib/errors.ts'

/** The folder where a project's compiler leaves its artifacts. */
interface Project {
  tool: 'Foundry' | 'Hardhat'
  artifacts: string
}

const HARDHAT = /^hardhat\.config\.[cm]?[jt]s$/

/** Projects in the folder itself; some are built by both tools. */
export const findProjects = (folder: string): Project[] => {
  const projects: Project[] = []
  const toml = join(folder, 'foundry.toml')
  if (existsSync(toml)) {
    const out = /^\s*out\s*=\s*(?:"([^"\n]+)"|'([^'\n]+)')/m.exec(readFileSync(toml, 'utf8'))
    projects.push({ tool: 'Foundry', artifacts: join(folder, out?.[1] ?? out?.[2] ?? 'out') })
  }
  if (readdirSync(folder).some(name => HARDHAT.test(name)))
    projects.push({ tool: 'Hardhat', artifacts: join(folder, 'artifacts', 'contracts') })
  return projects
}

export interface Artifact {
  file: string
  contract: string
  /** Creation code, hex without 0x, with library placeholders; undefined if not deployable. */
  creation: string | undefined
  /** Runtime code in the same form. */
  deployed: DeployedCode | undefined
}

interface DeployedCode {
  code: string
  /** Bytes that the constructor fills in. */
  immutables: readonly { start: number; length: number }[]
}

interface Artifacts {
  artifacts: Artifact[]
  /** Files that could not be read; the compiler may be writing them. */
  broken: { file: string; why: string }[]
}

/** Reads the artifacts below a folder; skips other files, and a missing folder is empty. */
export const readArtifacts = (folder: string): Artifacts => {
  const artifacts: Artifact[] = []
  const broken: Artifacts['broken'] = []
  for (const file of artifactFiles(folder)) {
    try {
      const artifact = parseArtifact(file, JSON.parse(readFileSync(file, 'utf8')))
      if (artifact) artifacts.push(artifact)
    } catch (error) {
      broken.push({ file, why: messageOf(error) })
    }
  }
  return { artifacts, broken }
}

/** Changes whenever a file below the folder does. */
export const artifactsState = (folder: string): string =>
  artifactFiles(folder)
    .map(file => {
      const { mtimeMs, size, ino } = statSync(file, { throwIfNoEntry: false }) ?? { mtimeMs: 0, size: 0, ino: 0 }
      return `${file}:${mtimeMs}:${size}:${ino}`
    })
    .join('\n')

const parseArtifact = (file: string, json: unknown): Artifact | undefined => {
  if (typeof json !== 'object' || json === null) return undefined
  const { abi, contractName, bytecode, deployedBytecode, immutableReferences } = json as Record<string, unknown>
  if (!Array.isArray(abi) || abi.length === 0) return undefined
  const [creation, deployed] = [digitsOf(bytecode), digitsOf(deployedBytecode)]
  // Foundry has them next to the code, Hardhat next to the name.
  const references = isRecord(deployedBytecode) ? deployedBytecode.immutableReferences : immutableReferences
  return {
    file,
    // Foundry adds the compiler's version to the name if it used several.
    contract: typeof contractName === 'string' ? contractName : basename(file, '.json').replace(/\.\d+\.\d+\.\d+$/, ''),
    creation,
    deployed: deployed === undefined ? undefined : { code: deployed, immutables: rangesIn(references) },
  }
}

/** Takes `0x6080…`, or an object that contains it. */
const digitsOf = (bytecode: unknown): string | undefined => {
  const code = isRecord(bytecode) ? bytecode.object : bytecode
  return typeof code === 'string' ? code.replace(/^0x/, '') || undefined : undefined
}

/** Lists of `{start, length}` by the names of variables, as the compiler writes them. */
const rangesIn = (references: unknown): DeployedCode['immutables'] => {
  const all = isRecord(references) ? Object.values(references).flat() : []
  return all.filter(
    (it): it is DeployedCode['immutables'][number] =>
      isRecord(it) && Number.isSafeInteger(it.start) && Number.isSafeInteger(it.length),
  )
}

/** The compiler's placeholder for the address of a library that is linked later. */
const LIBRARY = /__.{36}__/g

/** Names the contract whose creation code begins a transaction's input; arguments may follow. */
export const createNaming = (artifacts: readonly Artifact[]) => {
  const known = artifacts
    .filter(({ creation }) => creation !== undefined)
    .map(({ contract, creation }) => ({ contract, length: creation!.length, pieces: creation!.split(LIBRARY) }))
    .sort((a, b) => b.length - a.length)
  return (input: string): string | undefined => {
    const digits = input.slice(2)
    const fits = (pieces: readonly string[]) => {
      let at = 0
      return pieces.every(piece => {
        const found = digits.startsWith(piece, at)
        at += piece.length + 40
        return found
      })
    }
    return known.find(({ pieces }) => fits(pieces))?.contract
  }
}

/** Names the contract of a deployed code. */
export const createCodeNaming = (artifacts: readonly Artifact[]) => {
  const known = artifacts.flatMap(({ contract, deployed }) => {
    if (!deployed) return []
    const open = [...deployed.immutables, ...librariesIn(deployed.code)]
    return [{ contract, open, masked: maskOf(deployed.code.replace(LIBRARY, ZERO_DIGITS), open) }]
  })
  return (code: string): string | undefined => {
    const digits = code.slice(2)
    return known.find(({ open, masked }) => masked.length === digits.length && maskOf(digits, open) === masked)
      ?.contract
  }
}

const ZERO_DIGITS = '0'.repeat(40)

const librariesIn = (code: string): { start: number; length: number }[] =>
  Array.from(code.matchAll(LIBRARY), ({ index }) => ({ start: index / 2, length: 20 }))

/** Replaces the bytes that differ between deployments by zeros. */
const maskOf = (digits: string, ranges: DeployedCode['immutables']): string => {
  let masked = digits.toLowerCase()
  for (const { start, length } of ranges) {
    const [from, to] = [start * 2, (start + length) * 2]
    masked = masked.slice(0, from) + '0'.repeat(masked.slice(from, to).length) + masked.slice(to)
  }
  return masked
}

/**
 * Replaces a folder's ABIs by those of the artifacts; returns files without an ABI. Renames
 * complete files and adds before it deletes, as indexing threads may read at any time.
 */
export const replaceAbis = (folder: string, artifacts: readonly Artifact[]): Artifacts['broken'] => {
  const aside = `${folder}.new`
  rmSync(aside, { recursive: true, force: true })
  mkdirSync(aside, { recursive: true })
  mkdirSync(folder, { recursive: true })
  const broken: Artifacts['broken'] = []
  for (const { file } of artifacts) {
    try {
      writeAbi(aside, readAbiFile(file, { network: null, address: null }))
    } catch (error) {
      broken.push({ file, why: messageOf(error) })
    }
  }
  const names = new Set(readdirSync(aside))
  const old = new Set(readdirSync(folder))
  for (const name of names) if (!old.has(name)) renameSync(join(aside, name), join(folder, name))
  for (const name of old) if (!names.has(name)) rmSync(join(folder, name))
  rmSync(aside, { recursive: true })
  return broken
}
