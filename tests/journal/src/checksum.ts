/** The CRC-32 of each byte, and of each byte that another one follows. With these tables a code unit takes one step, because every read computes the checksum. */
const [crcOfByte, crcOfFirstByte] = [8, 16].map((bits) =>
  Uint32Array.from({ length: 256 }, (_, byte) => {
    let crc = byte;
    for (let bit = 0; bit < bits; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
    return crc;
  }),
) as [Uint32Array, Uint32Array];

/** Computes the CRC-32 of the UTF-16 code units. It finds flipped bits and incomplete writes. It does not stop an attacker. */
export function checksum(text: string): string {
  let crc = -1;
  for (let index = 0; index < text.length; index++) {
    const mixed = crc ^ text.charCodeAt(index);
    crc = (mixed >>> 16) ^ (crcOfFirstByte[mixed & 0xff] as number) ^ (crcOfByte[(mixed >>> 8) & 0xff] as number);
  }
  return (~crc >>> 0).toString(16).padStart(8, '0');
}
