package jsonl

import (
	"bytes"
	"unicode/utf8"
)

// hex is the value of a hexadecimal digit, or -1.
func hex(c byte) int {
	switch {
	case c-'0' <= 9:
		return int(c - '0')
	case c-'a' <= 5:
		return int(c-'a') + 10
	case c-'A' <= 5:
		return int(c-'A') + 10
	}
	return -1
}

// unit is the UTF-16 code unit that four hexadecimal digits name.
func unit(digits []byte) rune {
	return rune(hex(digits[0])<<12 | hex(digits[1])<<8 | hex(digits[2])<<4 | hex(digits[3]))
}

// unquote decodes what stands between the quotes of a JSON string that the
// scanner has accepted. Pairs of surrogate escapes combine; a lone one becomes
// its three-byte WTF-8 form, so that nothing is lost: encoding/json would make
// it U+FFFD.
func unquote(raw []byte) string {
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw)
	}
	return string(appendUnquoted(make([]byte, 0, len(raw)), raw))
}

// appendUnquoted appends what unquote returns to out.
func appendUnquoted(out, raw []byte) []byte {
	for i := 0; i < len(raw); {
		if j := stop(raw, i); j > i {
			out = append(out, raw[i:j]...)
			i = j
			continue
		}
		if i+1 >= len(raw) {
			break
		}
		if raw[i+1] == 'u' {
			if i+6 > len(raw) {
				break
			}
			u := unit(raw[i+2 : i+6])
			i += 6
			if u&^0x3FF == 0xD800 && i+6 <= len(raw) && raw[i] == '\\' && raw[i+1] == 'u' {
				if low := unit(raw[i+2 : i+6]); low&^0x3FF == 0xDC00 {
					out = utf8.AppendRune(out, 0x10000+(u-0xD800)<<10+(low-0xDC00))
					i += 6
					continue
				}
			}
			if u&^0x7FF == 0xD800 {
				out = append(out, 0xE0|byte(u>>12), 0x80|byte(u>>6)&0x3F, 0x80|byte(u)&0x3F)
			} else {
				out = utf8.AppendRune(out, u)
			}
			continue
		}
		out = append(out, escaped[raw[i+1]])
		i += 2
	}
	return out
}

// repair replaces invalid UTF-8 by U+FFFD as the client's decoder does (the
// Encoding Standard): one for each longest run of bytes that could have begun a
// character.
func repair(b []byte) []byte {
	out := make([]byte, 0, len(b)+16)
	for i := 0; i < len(b); {
		if r, n := utf8.DecodeRune(b[i:]); r != utf8.RuneError || n > 1 {
			out = append(out, b[i:i+n]...)
			i += n
			continue
		}
		out = append(out, "\uFFFD"...)
		i += badPrefix(b[i:])
	}
	return out
}

// badPrefix is the length of the invalid sequence that b begins with.
func badPrefix(b []byte) int {
	low, high, more := byte(0x80), byte(0xBF), 0
	switch c := b[0]; {
	case c >= 0xC2 && c <= 0xDF:
		more = 1
	case c >= 0xE0 && c <= 0xEF:
		more = 2
		switch c {
		case 0xE0:
			low = 0xA0
		case 0xED:
			high = 0x9F
		}
	case c >= 0xF0 && c <= 0xF4:
		more = 3
		switch c {
		case 0xF0:
			low = 0x90
		case 0xF4:
			high = 0x8F
		}
	}
	n := 1
	for n <= more && n < len(b) && b[n] >= low && b[n] <= high {
		low, high = 0x80, 0xBF
		n++
	}
	return n
}
