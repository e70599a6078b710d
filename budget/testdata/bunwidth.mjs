// Makes bunwidth.txt, the widths that Bun itself reports of made-up strings:
//
//	(echo '# Bun.stringWidth of Bun 1.4.5: width, string as UTF-16 code units in hex'
//	 bun bunwidth.mjs 7 4000 7; bun bunwidth.mjs 8 400 30) > bunwidth.txt
//
// Arguments: seed, number of strings, greatest number of parts. For a longer check,
// write some 100,000 to a file and run BUNWIDTH=FILE go test -run BunWidth.
let seed=+process.argv[2]; const N=+process.argv[3], ML=+process.argv[4];
const rnd=()=>{seed=(seed+0x6D2B79F5)|0; let t=Math.imul(seed^(seed>>>15),1|seed); t=(t+Math.imul(t^(t>>>7),61|t))^t; return ((t^(t>>>14))>>>0)/4294967296}; const ri=n=>Math.floor(rnd()*n);
const C=c=>String.fromCodePoint(c);
const pools=[
 ()=>C(0x20+ri(95)),()=>C(0x20+ri(95)),()=>C(ri(0x20)),()=>C(0x7f+ri(0x21)),()=>C(0xa0+ri(0x160)),
 ()=>C(0x300+ri(0x70)),()=>C(0x370+ri(0x200)),()=>C(0x590+ri(0x200)),()=>C(0x900+ri(0x480)),()=>C(0xe00+ri(0x100)),
 ()=>C(0x1100+ri(0x100)),()=>C(0xac00+ri(11172)),()=>C(0x4e00+ri(20000)),()=>C(0x3000+ri(0x100)),()=>C(0xff00+ri(0xf0)),
 ()=>C(0x2000+ri(0x70)),()=>C(0x20d0+ri(0x21)),()=>C(0x2100+ri(0x100)),()=>C(0x2600+ri(0x1c0)),()=>C(0x1f300+ri(0x400)),()=>C(0x1f900+ri(0x100)),
 ()=>C(0x1f1e6+ri(26)),()=>"\u200d",()=>"\ufe0f",()=>"\ufe0e",()=>"\u20e3",()=>C(0x1f3fb+ri(5)),()=>["\u094d","\u0937","\u0915","\u0d4e","\u0600","\u200c","\u00ad","\u00a9","\u2764","\u{1f44d}","\u200b","\u2060","\ufeff","\u200e","\u200f"][ri(15)],
 ()=>C(0xe0020+ri(0x60)),()=>C(0xd800+ri(0x800)),()=>["\x1b[31m","\x1b[0m","\x1b]8;;u\x07","\x1b","\x1b(B","\x1b[","\x9b1m","\x1b\\","\x1bPq","\x90","\x9c","\x18","\x07"][ri(13)],
 ()=>C(ri(0x10ffff)),()=>C(0xe000+ri(0x1900)),()=>"0123456789#*"[ri(12)],()=>"\r\n\t"[ri(3)],
 ()=>["\u{1f468}\u200d\u{1f469}\u200d\u{1f467}","\u{1f1e9}\u{1f1ea}","1\ufe0f\u20e3","\u2764\ufe0f\u200d\u{1f525}","\u{1f3f4}\u{e0067}\u{e0062}\u{e007f}","\u{1f44d}\u{1f3fd}","e\u0301","क्ष"][ri(8)],
];
const out=[];
for(let k=0;k<N;k++){
  const n=1+ri(ML); let s="";
  const focus=rnd()<0.5?[ri(pools.length),ri(pools.length),ri(pools.length)]:null;
  for(let i=0;i<n;i++) s+=pools[focus?focus[ri(3)]:ri(pools.length)]();
  let h=""; for(let i=0;i<s.length;i++) h+=s.charCodeAt(i).toString(16).padStart(4,"0");
  out.push(Bun.stringWidth(s)+" "+h);
}
console.log(out.join("\n"));
